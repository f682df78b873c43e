//! What is asked and how: conditions, ports, redirects, proxies, addresses.

use mattock_env::sim::Simulation;
use mattock_fetch::{
    AddressGuard, Client, ClientOptions, Credential, Field, Ports, Proxy, Redirect, RedirectRefusal,
    Validators,
};
use mattock_secret::Secret;

use crate::server::{Act, PAGE, SERVER, fetch, fetch_with, listen, options, send, url};

#[test]
fn what_the_operator_adds_is_sent() {
    let fields = vec![Field::new("Accept-Language", "de").unwrap()];
    let script = [Act::Request, send("HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\n\r\n"), Act::Hang];
    let seen = fetch_with(&script, ClientOptions { fields, compressed: false, ..options() });
    let request = seen.log.borrow().requests[0].clone();
    assert_eq!(request.as_bytes(), seen.exchange.request);
    assert!(
        request.contains("\r\nAccept-Language: de\r\n") && !request.contains("Accept-Encoding"),
        "{request}"
    );
    assert!(!request.to_ascii_lowercase().contains("cookie"));
}

#[test]
fn a_page_that_did_not_change_is_not_sent_again() {
    let fresh = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nLast-Modified: Fri, 08 Jun 2007 00:00:00 GMT\r\n\
                 Content-Length: 2\r\n\r\nhi";
    let same = "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n";
    Simulation::new(1).run(|env| async move {
        let script = vec![Act::Request, send(fresh), Act::Request, send(same), Act::Hang];
        let log = listen(&env, SERVER, vec![script]).await;
        let client = Client::new(&env, options());
        let (first, connection) = client.fetch(&url(PAGE), None).await;
        let validators = first.validators();
        let (second, connection) = client.fetch_if_changed(&url(PAGE), &validators, connection).await;
        assert_eq!((second.outcome.to_string().as_str(), second.body()), ("304", &b""[..]));
        assert!(connection.is_some() && second.reused);
        let request = &log.borrow().requests[1];
        assert!(request.contains("\r\nIf-None-Match: \"v1\"\r\n"), "{request}");
        assert!(request.contains("\r\nIf-Modified-Since: Fri, 08 Jun 2007 00:00:00 GMT\r\n"), "{request}");
    });
}

#[test]
fn p16_not_modified_without_a_condition_is_a_failure() {
    let script = [Act::Request, send("HTTP/1.1 304 Not Modified\r\n\r\n"), Act::Hang];
    let seen = fetch(&script);
    assert_eq!(seen.outcome(), "unasked-not-modified");
    assert!(seen.connection.is_none());
    Simulation::new(1).run(|env| async move {
        let _log = listen(&env, SERVER, vec![script.to_vec()]).await;
        let client = Client::new(&env, options());
        let (exchange, _) = client.fetch_if_changed(&url(PAGE), &Validators::default(), None).await;
        assert_eq!(exchange.outcome.to_string(), "unasked-not-modified");
    });
}

#[test]
fn r05_redirects_are_reported_or_refused_by_name() {
    let redirect = |fields: &[u8]| {
        let response = [b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n", fields, b"\r\n"].concat();
        let seen = fetch(&[Act::Request, Act::Send(response), Act::Hang]);
        assert_eq!(seen.outcome(), "302");
        seen.exchange.redirect(&url(PAGE)).unwrap()
    };
    assert_eq!(redirect(b"Location: /there\r\n"), Redirect::To(url("http://93.184.216.34/there")));
    let long = [b"Location: /", &[b'a'; 100_000][..], b"\r\n"].concat();
    for (fields, reason) in [
        (&b""[..], RedirectRefusal::NoLocation),
        (&long, RedirectRefusal::TooLong),
        (b"Location: /a\r\n b\r\n", RedirectRefusal::NotText),
        (b"Location: /\xff\xfe\r\n", RedirectRefusal::NotText),
        (b"Location: javascript:alert(1)\r\n", RedirectRefusal::Scheme),
    ] {
        assert_eq!(redirect(fields), Redirect::Refused(reason));
    }
}

#[test]
fn d08_ports_of_other_services_are_not_connected_to() {
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, "93.184.216.34:6379", vec![vec![Act::Hang]]).await;
        let client = Client::new(&env, options());
        let (exchange, _) = client.fetch(&url("http://93.184.216.34:6379/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "forbidden-port");
        assert_eq!(log.borrow().connections, 0);
        let open = ClientOptions { ports: Ports::Any, ..options() };
        let (exchange, _) = Client::new(&env, open).fetch(&url("http://93.184.216.34:6379/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "first-byte-timeout");
        assert_eq!(log.borrow().connections, 1);
    });
}

#[test]
fn d01_d04_addresses_that_are_not_public_are_not_connected_to() {
    Simulation::new(1).run(|env| async move {
        let mut listener = env.net.listen_loopback(80).await.unwrap();
        let client = Client::new(&env, options());
        for text in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://0.0.0.0/",
            "http://169.254.169.254/latest/meta-data/",
        ] {
            let (exchange, _) = client.fetch(&url(text), None).await;
            assert_eq!(exchange.outcome.to_string(), "forbidden-address", "{text}");
        }
        let nobody = env.clock.timeout(std::time::Duration::from_secs(60), listener.accept()).await;
        assert!(nobody.is_err(), "somebody connected");
    });
}

#[test]
fn a_proxy_is_asked_for_whole_urls() {
    let proxy = Some(Proxy { host: "10.0.0.1".to_owned(), port: 3128, authorization: None });
    Simulation::new(1).run(|env| async move {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        let log = listen(&env, "10.0.0.1:3128", vec![vec![Act::Request, send(page), Act::Hang]]).await;
        let client = Client::new(&env, ClientOptions { proxy, ..options() });
        let (exchange, connection) = client.fetch(&url("http://site.example/a"), None).await;
        assert_eq!((exchange.body(), exchange.address), (&b"hi"[..], None));
        assert!(connection.is_some());
        assert!(
            log.borrow().requests[0]
                .starts_with("GET http://site.example/a HTTP/1.1\r\nHost: site.example\r\n")
        );
        let (exchange, _) = client.fetch(&url("http://192.168.0.1/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "forbidden-address");
    });
}

#[test]
fn a_proxy_that_refuses_or_is_not_there_is_named() {
    let proxy = Some(Proxy { host: "10.0.0.1".to_owned(), port: 3128, authorization: None });
    Simulation::new(1).run(|env| async move {
        let client = Client::new(&env, ClientOptions { proxy, ..options() });
        let (exchange, _) = client.fetch(&url("http://site.example/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "proxy");
        let refuses = vec![Act::Request, send("HTTP/1.1 403 Forbidden\r\n\r\n"), Act::Hang];
        let log = listen(&env, "10.0.0.1:3128", vec![refuses]).await;
        let (exchange, _) = client.fetch(&url("https://site.example/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "proxy");
        assert!(log.borrow().requests[0].starts_with("CONNECT site.example:443 HTTP/1.1\r\n"));
    });
}

#[test]
fn a_proxy_is_not_asked_for_local_names_and_what_is_recorded_lacks_its_password() {
    let authorization = Some(Secret::new("Basic cHc="));
    let proxy = Some(Proxy { host: "10.0.0.1".to_owned(), port: 3128, authorization });
    Simulation::new(1).run(|env| async move {
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
        let log = listen(&env, "10.0.0.1:3128", vec![vec![Act::Request, send(page), Act::Close]]).await;
        let client = Client::new(&env, ClientOptions { proxy: proxy.clone(), ..options() });
        for local in [
            "http://localhost/",
            "http://x.localhost/",
            "https://localhost/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://metadata/",
            "http://printer.local/",
            "http://127.0.0.1/",
            "http://[fd00:ec2::254]/",
            "http://168.63.129.16/",
        ] {
            let (exchange, _) = client.fetch(&url(local), None).await;
            assert_eq!(exchange.outcome.to_string(), "forbidden-address", "{local}");
        }
        assert_eq!(log.borrow().connections, 0);
        let (exchange, _) = client.fetch(&url("http://site.example/"), None).await;
        let request = String::from_utf8(exchange.request).unwrap();
        assert!(request.contains("\r\nProxy-Authorization: (left out)\r\n"), "{request}");
        assert!(log.borrow().requests[0].contains("\r\nProxy-Authorization: Basic cHc=\r\n"));
        let guard = AddressGuard::default().with_names(vec!["printer.local".parse().unwrap()]);
        let client = Client::new(&env, ClientOptions { proxy, guard, ..options() });
        assert_eq!(client.fetch(&url("http://printer.local/"), None).await.0.outcome.to_string(), "200");
    });
}

#[test]
fn credentials_go_to_their_site_and_are_not_recorded() {
    let sites = vec!["http://93.184.216.34".parse().unwrap()];
    let credentials = vec![Credential::new("Cookie", &Secret::new("s=s3cret"), sites).unwrap()];
    Simulation::new(1).run(|env| async move {
        let moved = "HTTP/1.1 302 Found\r\nLocation: http://93.184.216.35/\r\nContent-Length: 0\r\n\r\n";
        let script = vec![Act::Request, send(moved), Act::Hang];
        let ours = listen(&env, SERVER, vec![script.clone()]).await;
        let other = listen(&env, "93.184.216.35:80", vec![script]).await;
        let client = Client::new(&env, ClientOptions { credentials, ..options() });
        let (exchange, _) = client.fetch(&url(PAGE), None).await;
        assert!(ours.borrow().requests[0].contains("\r\nCookie: s=s3cret\r\n"));
        let recorded = String::from_utf8(exchange.request.clone()).unwrap();
        assert!(
            recorded.contains("\r\nCookie: (left out)\r\n") && !recorded.contains("s3cret"),
            "{recorded}"
        );
        let Some(Redirect::To(target)) = exchange.redirect(&url(PAGE)) else { panic!("it redirects") };
        client.fetch(&target, None).await;
        let request = other.borrow().requests[0].clone();
        assert!(!request.contains("Cookie") && !request.contains("s3cret"), "{request}");
    });
}
