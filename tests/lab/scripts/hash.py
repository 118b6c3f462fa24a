"""Inside the lab: TCP asks for a connection from p1, where nobody answers; p2 is where its cable ends.

Prints how many of its segments have a hash in p1 and in p2, and how many there were. The kernel's packet
filter reads skb->hash as it is (SKF_AD_RXHASH).
"""

import ctypes
import json
import socket
import struct
import time

from inside import make_way, packet_socket

ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
# BPF, a line: code, jump if true, jump if false, constant.
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
RXHASH = 0xFFFFF000 + 32
ANY = ((RETURN, 0, 0, 0xFFFF),)
HASHED = ((LOAD_WORD, 0, 0, RXHASH), (JUMP_IF_EQUAL, 1, 0, 0), *ANY, (RETURN, 0, 0, 0))


def sniffer(port: str, program: tuple[tuple[int, int, int, int], ...]) -> socket.socket:
    """A socket that gets what passes a port and the program."""
    made = packet_socket(port, ETH_P_ALL)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    made.setsockopt(
        socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(program), ctypes.addressof(code))
    )
    made.settimeout(0)
    return made


def came(to: socket.socket) -> int:
    """How many frames a socket has got."""
    count = 0
    while True:
        try:
            to.recv(64)
        except BlockingIOError:
            return count
        count += 1


def main() -> None:
    """See above."""
    make_way()
    sniffers = {
        f"{port}_{name}": sniffer(port, program)
        for port in ("p1", "p2")
        for name, program in (("hashed", HASHED), ("all", ANY))
    }
    client = socket.socket()
    client.settimeout(0)
    client.connect_ex(("10.0.0.2", 9))
    time.sleep(5)
    print(json.dumps({name: came(receiver) for name, receiver in sniffers.items()}))


main()
