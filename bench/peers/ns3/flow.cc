/* One TCP flow through a chain of links, in ns-3: a scenario's flow, as far as ns-3 has what it is made of.
 *
 *   sender ==rates[0]== bridge ==rates[1]== ... bridge ==rates[n]== receiver
 *
 * What ns-3 does otherwise than the lab, each the cheapest way that gives the same flow:
 *
 * - Links are simple-net-devices, back to back: full duplex, and a bridge takes them, as it does not take
 *   point-to-point devices. Routers between those take a fifth more time. What is sent is an IP packet
 *   without a frame around it, so the rate is the share that a full frame leaves to its packet.
 * - There is no PAUSE. A path loses nothing because the window is half of the queue in front of each link.
 * - That window is small, but fills the path: ns-3 searches what is in flight, and takes longer for more.
 * - There are no rings, interrupts, GRO and segmentation offload: each segment is sent, passed on and
 *   received by itself, and every second one acknowledged.
 * - A host has no queueing discipline above its device, for there are no TCP small queues below.
 *
 * Logs and the reckoning of checksums are off, as is ns-3's default.
 */
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/bridge-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 5201;
constexpr uint32_t FRAME_BYTES = 38; // what Ethernet adds: header 14, FCS 4, preamble 8, gap 12
constexpr uint32_t HEADERS_BYTES = 40;
constexpr uint32_t TIMESTAMP_BYTES = 12;
constexpr uint32_t INITIAL_WINDOW_SEGMENTS = 10;
constexpr uint32_t WRITTEN_BYTES = 128 << 10; // at once, as iperf3 does
constexpr uint32_t WINDOWS_PER_QUEUE = 2;
constexpr double BITS_PER_BYTE = 8;

struct Sent
{
    SequenceNumber32 next{0};
    uint64_t again{0};
};

/* Count a segment that begins before the end of what was sent. */
void
OnTransmit(Sent* sent,
           Ptr<const Packet> payload,
           const TcpHeader& header,
           Ptr<const TcpSocketBase> /* socket */)
{
    const SequenceNumber32 first = header.GetSequenceNumber();
    if (payload->GetSize() == 0)
    {
        return;
    }
    if (first < sent->next)
    {
        sent->again++;
    }
    else
    {
        sent->next = first + payload->GetSize();
    }
}

std::vector<double>
Numbers(const std::string& text)
{
    std::vector<double> numbers;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
    {
        numbers.push_back(std::stod(word));
    }
    return numbers;
}

} // namespace

int
main(int argc, char** argv)
{
    double seconds = 1;
    std::string rates = "10e9,10e9";
    std::string delays = "15,15";
    uint32_t mtu = 1500;
    uint32_t window = 256 << 10;
    bool timestamps = true;
    CommandLine command;
    command.AddValue("seconds", "how long the flow lasts, in virtual time", seconds);
    command.AddValue("rates", "of the links, in bit/s, from the sender on", rates);
    command.AddValue("delays", "of the links, in ns, likewise", delays);
    command.AddValue("mtu", "of every link, in bytes", mtu);
    command.AddValue("window", "that the receiver offers, in bytes", window);
    command.AddValue("timestamps", "whether TCP uses them", timestamps);
    command.Parse(argc, argv);
    const std::vector<double> rates_bps = Numbers(rates);
    const std::vector<double> delays_ns = Numbers(delays);
    const std::size_t last = rates_bps.size();

    // A frame of 1538 B takes 1230.4 ns at 10 Gbit/s.
    Time::SetResolution(Time::PS);
    const uint32_t segment = mtu - HEADERS_BYTES - (timestamps ? TIMESTAMP_BYTES : 0);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(INITIAL_WINDOW_SEGMENTS));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(timestamps));

    NodeContainer nodes;
    nodes.Create(last + 1);
    const NodeContainer hosts(nodes.Get(0), nodes.Get(last));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(hosts);

    std::vector<NetDeviceContainer> of_node(last + 1);
    NetDeviceContainer devices;
    for (std::size_t hop = 0; hop < last; hop++)
    {
        const double rate_bps = rates_bps.at(hop) * mtu / (mtu + FRAME_BYTES);
        SimpleNetDeviceHelper link;
        link.SetNetDevicePointToPointMode(true);
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate_bps))));
        link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(uint64_t(delays_ns.at(hop)))));
        link.SetQueue("ns3::DropTailQueue",
                      "MaxSize",
                      QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, WINDOWS_PER_QUEUE * window)));
        const NetDeviceContainer ends = link.Install(NodeContainer(nodes.Get(hop), nodes.Get(hop + 1)));
        for (uint32_t end = 0; end < ends.GetN(); end++)
        {
            ends.Get(end)->SetMtu(uint16_t(mtu));
            of_node.at(hop + end).Add(ends.Get(end));
        }
        devices.Add(ends);
    }
    for (std::size_t node = 1; node < last; node++)
    {
        BridgeHelper().Install(nodes.Get(node), of_node.at(node));
    }
    const NetDeviceContainer cards(of_node.at(0), of_node.at(last));
    const Ipv4Address receiver =
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(cards).GetAddress(1);
    // With the address came ns-3's default queueing discipline.
    TrafficControlHelper().Uninstall(cards);

    const std::string tcp = "ns3::TcpSocketFactory";
    PacketSinkHelper sinks(tcp, InetSocketAddress(Ipv4Address::GetAny(), PORT));
    const Ptr<PacketSink> sink = DynamicCast<PacketSink>(sinks.Install(nodes.Get(last)).Get(0));
    BulkSendHelper senders(tcp, InetSocketAddress(receiver, PORT));
    senders.SetAttribute("MaxBytes", UintegerValue(0));
    senders.SetAttribute("SendSize", UintegerValue(WRITTEN_BYTES));
    const Ptr<BulkSendApplication> sender =
        DynamicCast<BulkSendApplication>(senders.Install(nodes.Get(0)).Get(0));

    Sent sent;
    // The application makes its socket when it starts, at 0.
    Simulator::Schedule(TimeStep(1), [&sender, &sent] {
        sender->GetSocket()->TraceConnectWithoutContext("Tx", MakeBoundCallback(&OnTransmit, &sent));
    });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    uint64_t dropped = 0;
    for (uint32_t device = 0; device < devices.GetN(); device++)
    {
        dropped += DynamicCast<SimpleNetDevice>(devices.Get(device))->GetQueue()->GetTotalDroppedPackets();
    }
    std::cout << "{\"goodput_bps\": " << uint64_t(double(sink->GetTotalRx()) * BITS_PER_BYTE / seconds)
              << ", \"retransmits\": " << sent.again << ", \"dropped_frames\": " << dropped
              << ", \"events\": " << Simulator::GetEventCount() << "}\n";
    Simulator::Destroy();
    return 0;
}
