#!/bin/sh
# iperf3 as people type it. Where it was asked for an amount and has no bitrate, it spins when all is sent
# (iperf_send_mt of 3.18), and in virtual time a loop that never reads the clock never ends. With a bitrate it
# reads the clock; this one is never reached.
amount=
paced=
for word; do
    case $word in
    --by* | --bl*) amount=yes ;;
    --ba* | --bit* | --u | --ud | --udp) paced=yes ;;
    --*) ;;
    -*)
        letters=${word#-}
        while [ -n "$letters" ]; do
            case $letters in
            [nk]*) amount=yes ;;
            [bu]*) paced=yes ;;
            esac
            case $letters in
            # What follows is its value.
            [ABCFILMOPSTXbcfiklnptw]*) break ;;
            esac
            letters=${letters#?}
        done
        ;;
    esac
done
if [ -n "$amount" ] && [ -z "$paced" ]; then
    set -- -b 1T "$@"
fi
exec /usr/bin/iperf3 "$@"
