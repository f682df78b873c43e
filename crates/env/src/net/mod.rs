//! TCP and UDP, real or in memory.
//!
//! [`Net::connect`] and [`Net::datagrams`] serve the crawler, [`Net::listen`] and [`Net::listen_loopback`] the simulated
//! Web and the console. A [`Stream`] is `AsyncRead + AsyncWrite`.

mod pipe;
mod real;
mod sim;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use sim::{NetFaults, SimNet};

/// The network. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Net {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Real,
    Sim(SimNet),
}

impl Net {
    /// The machine's network.
    pub fn real() -> Net {
        Net { kind: Kind::Real }
    }

    /// A network in memory.
    pub fn simulated(net: SimNet) -> Net {
        Net { kind: Kind::Sim(net) }
    }

    /// Opens a TCP connection. No time limit of its own: put a [`Clock::timeout`](crate::Clock::timeout) around it.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<Stream> {
        match &self.kind {
            Kind::Real => real::connect(address).await.map(Stream::Tcp),
            Kind::Sim(net) => net.connect(address).await.map(Stream::Sim),
        }
    }

    /// Listens on one address. An address in use is an error.
    pub async fn listen(&self, address: SocketAddr) -> io::Result<Listener> {
        match &self.kind {
            Kind::Real => real::listen(address).await.map(Listener::Tcp),
            Kind::Sim(net) => net.listen(sim::Place::One(address)).map(Listener::Sim),
        }
    }

    /// Listens on `port` of every address of 127.0.0.0/8 at once, and of no other interface; peers from anywhere but
    /// this machine are refused.
    pub async fn listen_loopback(&self, port: u16) -> io::Result<Listener> {
        match &self.kind {
            Kind::Real => real::listen_loopback(port).map(Listener::Tcp),
            Kind::Sim(net) => net.listen(sim::Place::Loopback(port)).map(Listener::Sim),
        }
    }

    /// A UDP socket bound to `address` (port 0: any).
    pub async fn datagrams(&self, address: SocketAddr) -> io::Result<Datagrams> {
        match &self.kind {
            Kind::Real => real::datagrams(address).await.map(Datagrams::Udp),
            Kind::Sim(net) => net.datagrams(address).map(Datagrams::Sim),
        }
    }
}

/// One TCP connection.
#[derive(Debug)]
pub enum Stream {
    /// Of the operating system.
    Tcp(tokio::net::TcpStream),
    /// In memory.
    Sim(pipe::PipeEnd),
}

impl Stream {
    /// Two connected streams in memory, for tests of protocol code. `capacity` bytes are buffered each way.
    pub fn pair(capacity: usize) -> (Stream, Stream) {
        let (a, b) = pipe::pair(capacity);
        (Stream::Sim(a), Stream::Sim(b))
    }

    /// Closes the connection the rude way: the peer gets a reset and not an end of file.
    pub fn reset(self) {
        match self {
            Stream::Tcp(stream) => {
                // If the option cannot be set the drop below still closes the connection, only more politely.
                let _ = socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO));
            }
            Stream::Sim(end) => end.reset(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Sim(end) => Pin::new(end).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Sim(end) => Pin::new(end).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Sim(end) => {
                let first = bufs.iter().find(|buf| !buf.is_empty());
                Pin::new(end).poll_write(cx, first.map_or(&[][..], |buf| buf))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self, Stream::Tcp(_))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Sim(end) => Pin::new(end).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Sim(end) => Pin::new(end).poll_shutdown(cx),
        }
    }
}

/// A connection that came in.
#[derive(Debug)]
pub struct Accepted {
    /// The connection.
    pub stream: Stream,
    /// The address of ours that the peer connected to.
    pub local: SocketAddr,
    /// The peer.
    pub peer: SocketAddr,
}

/// Waits for connections.
#[derive(Debug)]
pub enum Listener {
    /// Of the operating system.
    Tcp(real::RealListener),
    /// In memory.
    Sim(sim::SimListener),
}

impl Listener {
    /// The next connection.
    pub async fn accept(&mut self) -> io::Result<Accepted> {
        match self {
            Listener::Tcp(listener) => listener.accept().await,
            Listener::Sim(listener) => listener.accept().await,
        }
    }

    /// Where it listens (the port is the real one if 0 was asked for).
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.address(),
            Listener::Sim(listener) => Ok(listener.address()),
        }
    }
}

/// A UDP socket.
#[derive(Debug)]
pub enum Datagrams {
    /// Of the operating system.
    Udp(tokio::net::UdpSocket),
    /// In memory.
    Sim(sim::SimDatagrams),
}

impl Datagrams {
    /// Sends one datagram.
    pub async fn send_to(&self, bytes: &[u8], to: SocketAddr) -> io::Result<()> {
        match self {
            Datagrams::Udp(socket) => socket.send_to(bytes, to).await.map(drop),
            Datagrams::Sim(socket) => {
                socket.send_to(bytes, to);
                Ok(())
            }
        }
    }

    /// Receives one datagram; what does not fit in `buffer` is lost.
    pub async fn receive_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match self {
            Datagrams::Udp(socket) => socket.recv_from(buffer).await,
            Datagrams::Sim(socket) => socket.receive_from(buffer).await,
        }
    }

    /// Where it is bound.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Datagrams::Udp(socket) => socket.local_addr(),
            Datagrams::Sim(socket) => Ok(socket.address()),
        }
    }
}
