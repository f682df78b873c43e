//! One question to one name server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hickory_proto::op::{Edns, Message, Query};
use hickory_proto::rr::{Name, RecordType};
use mattock_env::Net;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What fits through nearly every network in one piece.
const DATAGRAM_BYTES: u16 = 1232;
/// Datagrams that are not the answer before we give up: somebody is guessing.
const STRANGERS_MAX: usize = 1000;

/// Asks over UDP, and over TCP if the answer did not fit. No time limit of its own.
pub(super) async fn ask(
    net: &Net,
    server: SocketAddr,
    name: &Name,
    record_type: RecordType,
    id: u16,
) -> io::Result<Message> {
    let mut query = Message::query();
    query.metadata.id = id;
    query.metadata.recursion_desired = true;
    query.add_query(Query::query(name.clone(), record_type));
    let mut edns = Edns::new();
    edns.set_max_payload(DATAGRAM_BYTES);
    query.set_edns(edns);
    let bytes = query.to_vec().map_err(io::Error::other)?;
    let message = over_udp(net, server, &query, &bytes).await?;
    match message.metadata.truncation {
        true => over_tcp(net, server, &query, &bytes).await,
        false => Ok(message),
    }
}

async fn over_udp(net: &Net, server: SocketAddr, query: &Message, bytes: &[u8]) -> io::Result<Message> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = net.datagrams(SocketAddr::new(any, 0)).await?;
    socket.send_to(bytes, server).await?;
    let mut buffer = [0; 4096];
    for _ in 0..STRANGERS_MAX {
        let (count, from) = socket.receive_from(&mut buffer).await?;
        // A forged or late answer is not an error: the real one may still come.
        let Ok(message) = Message::from_vec(&buffer[..count]) else { continue };
        if from == server && answers(&message, query) {
            return Ok(message);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

async fn over_tcp(net: &Net, server: SocketAddr, query: &Message, bytes: &[u8]) -> io::Result<Message> {
    let mut stream = net.connect(server).await?;
    let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], bytes].concat()).await?;
    let length = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await?;
    let message = Message::from_vec(&answer).map_err(io::Error::other)?;
    match answers(&message, query) {
        true => Ok(message),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn answers(message: &Message, query: &Message) -> bool {
    message.metadata.id == query.metadata.id && message.queries == query.queries
}
