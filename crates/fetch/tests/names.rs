//! DNS: D05, D06, D11–D15, and how answers are shared and kept.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use mattock_env::sim::Simulation;
use mattock_env::{Env, NetFaults};
use mattock_fetch::{Client, ClientOptions, Families, Hosts, NameServers, Resolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{Act, listen, options, send, url};

const SERVER: &str = "9.9.9.9:53";

fn servers() -> NameServers {
    NameServers(vec![SERVER.parse().unwrap()])
}

fn resolver(env: &Env) -> Resolver {
    Resolver::new(env, servers(), Families::default(), 100)
}

fn name(text: &str) -> Name {
    Name::from_ascii(format!("{text}.")).unwrap()
}

fn address(owner: &str, ttl: u32, address: &str) -> Record {
    let data = match address.parse().unwrap() {
        IpAddr::V4(v4) => RData::A(A(v4)),
        IpAddr::V6(v6) => RData::AAAA(AAAA(v6)),
    };
    Record::from_rdata(name(owner), ttl, data)
}

fn alias(owner: &str, target: &str) -> Record {
    Record::from_rdata(name(owner), 300, RData::CNAME(CNAME(name(target))))
}

/// What a name server says to one question, over datagrams or TCP.
enum Say {
    Records(Vec<Record>),
    Code(ResponseCode),
    Truncated,
    /// First an answer with a wrong id that leads elsewhere, then the real one.
    ForgedThen(Vec<Record>),
    Nothing,
}

type Asked = Rc<RefCell<Vec<(String, RecordType)>>>;

fn reply(query: &Message, say: &Say) -> Option<Message> {
    let mut message = Message::response(query.metadata.id, query.metadata.op_code);
    message.metadata.message_type = MessageType::Response;
    message.add_queries(query.queries.iter().cloned());
    match say {
        Say::Records(records) | Say::ForgedThen(records) => {
            message.add_answers(records.iter().cloned());
        }
        Say::Code(code) => message.metadata.response_code = *code,
        Say::Truncated => message.metadata.truncation = true,
        Say::Nothing => return None,
    }
    Some(message)
}

/// A name server that answers as `says` decides; `tcp` tells how it was asked.
async fn serve(env: &Env, says: impl Fn(&Query, bool) -> Say + 'static) -> Asked {
    let asked = Asked::default();
    let says = Rc::new(says);
    let socket = env.net.datagrams(SERVER.parse().unwrap()).await.unwrap();
    let mut listener = env.net.listen(SERVER.parse::<SocketAddr>().unwrap()).await.unwrap();
    let (log, by_datagram) = (asked.clone(), says.clone());
    tokio::task::spawn_local(async move {
        let mut buffer = [0; 4096];
        while let Ok((count, from)) = socket.receive_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..count]).unwrap();
            let question = &query.queries[0];
            log.borrow_mut().push((question.name().to_string(), question.query_type()));
            let say = by_datagram(question, false);
            if let Say::ForgedThen(_) = say {
                let mut forged = query.clone();
                forged.metadata.id = forged.metadata.id.wrapping_add(1);
                let evil = Say::Records(vec![address("forged.example", 60, "6.6.6.6")]);
                let bytes = reply(&forged, &evil).unwrap().to_vec().unwrap();
                socket.send_to(&bytes, from).await.unwrap();
                socket.send_to(b"not DNS at all", from).await.unwrap();
            }
            if let Some(message) = reply(&query, &say) {
                socket.send_to(&message.to_vec().unwrap(), from).await.unwrap();
            }
        }
    });
    tokio::task::spawn_local(async move {
        while let Ok(mut accepted) = listener.accept().await {
            let length = accepted.stream.read_u16().await.unwrap();
            let mut bytes = vec![0; usize::from(length)];
            accepted.stream.read_exact(&mut bytes).await.unwrap();
            let query = Message::from_vec(&bytes).unwrap();
            if let Some(message) = reply(&query, &says(&query.queries[0], true)) {
                let bytes = message.to_vec().unwrap();
                accepted.stream.write_u16(bytes.len() as u16).await.unwrap();
                accepted.stream.write_all(&bytes).await.unwrap();
            }
        }
    });
    asked
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn answers_are_shared_kept_and_forgotten_d15() {
    for (ttl, kept_s) in [(0, 60), (100, 100), (1 << 31, 24 * 3600)] {
        Simulation::new(1).run(|env| async move {
            let asked =
                serve(&env, move |_, _| Say::Records(vec![address("a.example", ttl, "8.8.4.4")])).await;
            let resolver = Rc::new(resolver(&env));
            let all: Vec<_> = (0..20)
                .map(|_| {
                    let resolver = resolver.clone();
                    tokio::task::spawn_local(
                        async move { resolver.resolve("a.example").await.unwrap().to_vec() },
                    )
                })
                .collect();
            for one in all {
                assert_eq!(one.await.unwrap(), ips(&["8.8.4.4"]));
            }
            assert_eq!(asked.borrow().len(), 1, "twenty at once are one question");
            env.clock.sleep(Duration::from_secs(kept_s - 1)).await;
            resolver.resolve("a.example").await.unwrap();
            assert_eq!(asked.borrow().len(), 1);
            env.clock.sleep(Duration::from_secs(2)).await;
            resolver.resolve("a.example").await.unwrap();
            assert_eq!(asked.borrow().len(), 2);
        });
    }
}

#[test]
fn whoever_waits_asks_again_if_the_first_gives_up() {
    Simulation::new(1).run(|env| async move {
        let _asked = serve(&env, |_, _| Say::Records(vec![address("a.example", 60, "8.8.4.4")])).await;
        let resolver = Rc::new(resolver(&env));
        let (one, two) = (resolver.clone(), resolver.clone());
        let first = tokio::task::spawn_local(async move { one.resolve("a.example").await.is_ok() });
        let second = tokio::task::spawn_local(async move { two.resolve("a.example").await.is_ok() });
        tokio::task::yield_now().await;
        first.abort();
        assert!(second.await.unwrap());
    });
}

#[test]
fn d11_silence_and_failure_have_names_and_limits() {
    Simulation::new(1).run(|env| async move {
        let asked = serve(&env, |question, _| match question.name().to_string().as_str() {
            "silent.example." => Say::Nothing,
            _ => Say::Code(ResponseCode::ServFail),
        })
        .await;
        let resolver = resolver(&env);
        let begun = env.clock.now();
        assert_eq!(resolver.resolve("silent.example").await.unwrap_err().name(), "name-timeout");
        assert_eq!(env.clock.now().since(begun), Duration::from_secs(10));
        assert_eq!(resolver.resolve("failing.example").await.unwrap_err().name(), "name-server");
        assert_eq!(asked.borrow().len(), 4, "each is asked twice");
        let _ = resolver.resolve("failing.example").await;
        assert_eq!(asked.borrow().len(), 6, "failures are not remembered");
    });
}

#[test]
fn d12_names_that_do_not_exist_are_remembered_apart() {
    Simulation::new(1).run(|env| async move {
        let asked = serve(&env, |question, _| match question.name().to_string().as_str() {
            "a.example." => Say::Records(vec![address("a.example", 3600, "8.8.4.4")]),
            _ => Say::Code(ResponseCode::NXDomain),
        })
        .await;
        let resolver = resolver(&env);
        resolver.resolve("a.example").await.unwrap();
        for number in 0..500 {
            let flood = format!("flood{number}.example");
            assert_eq!(resolver.resolve(&flood).await.unwrap_err().name(), "no-such-name");
        }
        let count = asked.borrow().len();
        resolver.resolve("a.example").await.unwrap();
        assert!(resolver.resolve("flood499.example").await.is_err());
        assert_eq!(asked.borrow().len(), count, "both are remembered");
    });
}

#[test]
fn d13_aliases_are_followed_eight_times() {
    Simulation::new(1).run(|env| async move {
        let _asked = serve(&env, |question, _| {
            let first = question.name().to_string();
            let first = first.trim_end_matches('.');
            let depth = match first {
                "loop.example" => return Say::Records(vec![alias(first, first)]),
                "deep.example" => 20,
                _ => 8,
            };
            let owner = |at: usize| if at == 0 { first.to_owned() } else { format!("x{at}.example") };
            let mut records: Vec<_> = (0..depth).map(|at| alias(&owner(at), &owner(at + 1))).collect();
            records.push(address(&owner(depth), 60, "8.8.4.4"));
            Say::Records(records)
        })
        .await;
        let resolver = resolver(&env);
        assert_eq!(resolver.resolve("eight.example").await.unwrap().to_vec(), ips(&["8.8.4.4"]));
        assert_eq!(resolver.resolve("deep.example").await.unwrap_err().name(), "name-server");
        assert_eq!(resolver.resolve("loop.example").await.unwrap_err().name(), "name-server");
    });
}

#[test]
fn d14_many_addresses_come_over_tcp_and_few_are_used_and_forgeries_are_ignored() {
    Simulation::new(1).run(|env| async move {
        let _asked = serve(&env, |question, tcp| match (question.name().to_string().as_str(), tcp) {
            ("many.example.", false) => Say::Truncated,
            ("many.example.", true) => {
                let record = |n: u32| address("many.example", 60, &format!("8.8.{}.{}", n / 250, n % 250));
                Say::Records((0..3000).map(record).collect())
            }
            _ => Say::ForgedThen(vec![address("forged.example", 60, "8.8.4.4")]),
        })
        .await;
        let resolver = resolver(&env);
        assert_eq!(resolver.resolve("many.example").await.unwrap().len(), 16);
        assert_eq!(resolver.resolve("forged.example").await.unwrap().to_vec(), ips(&["8.8.4.4"]));
    });
}

#[test]
fn both_families_are_known() {
    Simulation::new(1).run(|env| async move {
        let asked = serve(&env, |question, _| {
            let six = question.query_type() == RecordType::AAAA;
            match (question.name().to_string().as_str(), six) {
                ("both.example.", true) => Say::Records(vec![address("both.example", 60, "2600::1")]),
                ("both.example.", false) => Say::Records(vec![address("both.example", 60, "8.8.4.4")]),
                ("six.example.", true) => Say::Records(vec![address("six.example", 60, "2600::2")]),
                _ => Say::Records(Vec::new()),
            }
        })
        .await;
        let resolve = |families, name| {
            let resolver = Resolver::new(&env, servers(), families, 10);
            async move { resolver.resolve(name).await.map(|found| found.to_vec()) }
        };
        assert_eq!(resolve(Families::V4First, "both.example").await, Ok(ips(&["8.8.4.4"])));
        assert_eq!(asked.borrow().len(), 1);
        assert_eq!(resolve(Families::V6First, "both.example").await, Ok(ips(&["2600::1"])));
        assert_eq!(resolve(Families::V4First, "six.example").await, Ok(ips(&["2600::2"])));
        assert!(resolve(Families::V4Only, "six.example").await.is_err());
        assert!(resolve(Families::V4First, "none.example").await.is_err());
    });
}

#[test]
fn lost_datagrams_are_asked_for_again() {
    let faults = NetFaults { lose_datagram: 0.2, ..NetFaults::NONE };
    let answered = Simulation::new(1).network(faults).run(|env| async move {
        let _asked = serve(&env, |question, _| {
            let owner = question.name().to_string();
            Say::Records(vec![address(owner.trim_end_matches('.'), 60, "8.8.4.4")])
        })
        .await;
        let resolver = resolver(&env);
        let mut answered = 0;
        for number in 0..100 {
            answered += u32::from(resolver.resolve(&format!("n{number}.example")).await.is_ok());
        }
        answered
    });
    assert!((75..100).contains(&answered), "{answered}");
}

#[test]
fn d05_one_private_address_refuses_the_name() {
    for private in ["10.0.0.1", "127.0.0.1", "169.254.169.254"] {
        Simulation::new(1).run(|env| async move {
            let log = listen(&env, "8.8.4.4:80", vec![vec![Act::Hang]]).await;
            let _asked = serve(&env, move |_, _| {
                Say::Records(vec![
                    address("mixed.example", 60, "8.8.4.4"),
                    address("mixed.example", 60, private),
                ])
            })
            .await;
            let client = Client::new(&env, ClientOptions { name_servers: Some(servers()), ..options() });
            let (exchange, _) = client.fetch(&url("http://mixed.example/"), None).await;
            assert_eq!(exchange.outcome.to_string(), "forbidden-address");
            assert_eq!(log.borrow().connections, 0);
        });
    }
}

#[test]
fn d06_a_name_that_changes_its_mind_gains_nothing() {
    Simulation::new(1).run(|env| async move {
        let page = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
        let public = listen(&env, "8.8.4.4:80", vec![vec![Act::Request, send(page)]]).await;
        let private = listen(&env, "127.0.0.1:80", vec![vec![Act::Hang]]).await;
        let turn = std::cell::Cell::new(0);
        let asked = serve(&env, move |_, _| {
            turn.set(turn.get() + 1);
            let to = if turn.get() % 2 == 1 { "8.8.4.4" } else { "127.0.0.1" };
            Say::Records(vec![address("rebinding.example", 0, to)])
        })
        .await;
        let client = Client::new(&env, ClientOptions { name_servers: Some(servers()), ..options() });
        let mut outcomes = Vec::new();
        for _ in 0..6 {
            let (exchange, _) = client.fetch(&url("http://rebinding.example/"), None).await;
            assert!(
                exchange.outcome.status().is_none() || exchange.address == Some("8.8.4.4".parse().unwrap())
            );
            outcomes.push(exchange.outcome.to_string());
            env.clock.sleep(Duration::from_secs(40)).await;
        }
        // A TTL of 0 holds for a minute: two fetches by each answer.
        assert_eq!(outcomes, ["200", "200", "forbidden-address", "forbidden-address", "200", "200"]);
        assert_eq!((public.borrow().connections, private.borrow().connections), (4, 0));
        assert_eq!(asked.borrow().len(), 3);
    });
}

#[test]
fn names_that_the_operator_wrote_down_ask_nobody_and_are_guarded_all_the_same() {
    Simulation::new(1).run(|env| async move {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        let public = listen(&env, "8.8.4.4:80", vec![vec![Act::Request, send(page)]]).await;
        let private = listen(&env, "10.0.0.7:80", vec![vec![Act::Hang]]).await;
        let asked = serve(&env, |_, _| Say::Records(vec![address("other.example", 60, "8.8.8.8")])).await;
        let hosts = Hosts::parse("8.8.4.4 www.example.com\n10.0.0.7 wiki\n::1 six\n").unwrap();
        let name_servers = Some(servers());
        let client =
            Client::new(&env, ClientOptions { name_servers, hosts, families: Families::V4Only, ..options() });
        let mut outcomes = Vec::new();
        for name in ["www.example.com", "wiki", "six"] {
            let (exchange, _) = client.fetch(&url(&format!("http://{name}/")), None).await;
            outcomes.push(exchange.outcome.to_string());
        }
        assert_eq!(outcomes, ["200", "forbidden-address", "no-such-name"]);
        assert_eq!((public.borrow().connections, private.borrow().connections), (1, 0));
        assert!(asked.borrow().is_empty());
    });
}
