//! The operating system's sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::{Accepted, Stream};

const BACKLOG: i32 = 4096;

pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub(super) async fn listen(address: SocketAddr) -> io::Result<RealListener> {
    let listener = TcpListener::bind(address).await?;
    Ok(RealListener { listener, loopback_only: false })
}

/// One socket for all of 127.0.0.0/8: bound to every address, but tied to the loopback device where the system
/// allows that, and refusing foreign peers where it does not.
pub(super) fn listen_loopback(port: u16) -> io::Result<RealListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    #[cfg(target_os = "linux")]
    let _ = socket.bind_device(Some(b"lo"));
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)).into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from_std(socket.into())?;
    Ok(RealListener { listener, loopback_only: true })
}

pub(super) async fn datagrams(address: SocketAddr) -> io::Result<UdpSocket> {
    UdpSocket::bind(address).await
}

/// A listening TCP socket.
#[derive(Debug)]
pub struct RealListener {
    listener: TcpListener,
    loopback_only: bool,
}

impl RealListener {
    pub(super) async fn accept(&mut self) -> io::Result<Accepted> {
        loop {
            let (stream, peer) = self.listener.accept().await?;
            if self.loopback_only && !is_loopback(peer.ip()) {
                continue;
            }
            stream.set_nodelay(true)?;
            let local = stream.local_addr()?;
            return Ok(Accepted { stream: Stream::Tcp(stream), local, peer });
        }
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback(),
        IpAddr::V6(v6) => v6.is_loopback(),
    }
}
