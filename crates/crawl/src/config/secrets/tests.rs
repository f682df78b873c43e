use std::path::Path;

use mattock_env::{Files, Random, SimFiles};

use super::super::{Config, RawConfig};

const REFERRED: &str = "[fetch]\nheaders = [\"Accept-Language: en\", { name = \"X-Api-Key\", value = { file = \"key\" }, \
     hosts = [\"a.example\", \".b.example\"] }]\n[network]\nproxy = { file = \"/run/proxy\" }\n";

fn parse(text: &str) -> RawConfig {
    RawConfig::parse(text, "ours.toml").unwrap()
}

fn refusal(text: &str) -> String {
    RawConfig::parse(text, "ours.toml").unwrap_err().to_string()
}

fn files() -> Files {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    for (path, secret) in [("/run/proxy", "http://me:pr0xy@proxy.example:3128\n"), ("/etc/key", "k3y\n")] {
        files.create_dir_all(Path::new(path).parent().unwrap()).unwrap();
        files.write_private(Path::new(path), secret.as_bytes()).unwrap();
    }
    files
}

#[test]
fn secrets_are_fetched_and_only_their_places_written_down() {
    let files = files();
    let mut raw = parse(REFERRED);
    assert!(raw.check().unwrap_err().to_string().contains("not fetched"));
    raw.read_files(&files, Path::new("/etc"), "ours.toml").unwrap();
    raw.fetch_secrets(&files).unwrap();
    let config: Config = raw.check().unwrap();
    assert_eq!(config.proxy.as_ref().map(|proxy| proxy.host.as_str()), Some("proxy.example"));
    assert!(config.proxy.as_ref().unwrap().authorization.is_some());
    assert_eq!((config.headers.len(), config.credentials.len()), (1, 1));
    let text = raw.to_toml();
    assert!(!raw.holds_secret());
    assert!(text.contains("/etc/key") && text.contains("/run/proxy"), "{text}");
    assert_eq!(parse(&text), raw, "{text}");
    for shown in [text, format!("{raw:?} {config:?} {:?}", config.client_options())] {
        assert!(!shown.contains("k3y") && !shown.contains("pr0xy"), "{shown}");
    }
}

#[test]
fn who_only_looks_needs_no_secret_and_gets_no_way_to_the_web() {
    let saved = RawConfig::parse_saved(REFERRED, "crawl.toml").unwrap().check_saved().unwrap();
    assert_eq!(saved.proxy.unwrap().host, "secret-not-read.invalid");
    assert!(saved.credentials.is_empty());
    // Configurations of earlier versions still say what the crawl was; only to go on with them is refused.
    let before = "[fetch]\nheaders = [\"Authorization: Bearer t0ken\"]\n";
    assert!(RawConfig::parse_saved(before, "crawl.toml").unwrap().check_saved().unwrap().headers.is_empty());
    assert!(RawConfig::parse_saved(before, "crawl.toml").unwrap().check().is_err());
}

#[test]
fn secrets_in_the_configuration_itself_are_told_from_what_is_none() {
    let holds = |text: &str| parse(text).holds_secret();
    assert!(!holds("") && !holds("[network]\nproxy = 'http://proxy.example:3128'"));
    assert!(!holds("[fetch]\nheaders = ['Accept-Language: en']"));
    assert!(holds("[network]\nproxy = 'http://me:pr0xy@proxy.example:3128'"));
    let plain = "[fetch]\nheaders = [{ name = 'Cookie', value = 'a=b', hosts = ['a.example'] }]";
    assert!(holds(plain));
    assert_eq!(parse(&parse(plain).to_toml()), parse(plain));
}

#[test]
fn mistakes_are_named_without_what_is_secret() {
    let field = |rest: &str| format!("[fetch]\nheaders = [{{ name = 'X-Api-Key', {rest} }}]");
    for (text, says) in [
        ("[network]\nproxy = 'http://me:s3cret@proxy'".to_owned(), "http://proxy.example:3128"),
        ("[network]\nproxy = 'socks5://me:s3cret@proxy:1'".to_owned(), "http://proxy.example:3128"),
        ("[network]\nproxy = 'http://me:s3cret:proxy:1'".to_owned(), "http://proxy.example:3128"),
        ("[network]\nproxy = 'http://me:s3cret@proxy:1".to_owned(), "line 2"),
        ("[network]\nproxy = ['s3cret']".to_owned(), "{ env = \"NAME\" }"),
        ("[network]\nproxy = 's3cret'\ndns = 's3cret'".to_owned(), "line 3"),
        ("[fetch]\nheaders = ['Authorization s3cret']".to_owned(), "Accept-Language: en"),
        (
            "[fetch]\nheaders = ['Authorization: s3cret']".to_owned(),
            "{ name = \"Authorization\", value = { env = \"VARIABLE\" }, hosts = [\"www.example.com\"] }",
        ),
        ("[fetch]\nheaders = ['X-Api-Key: s3cret']".to_owned(), "hosts = "),
        (field("value = 's3cret', hosts = []"), "`X-Api-Key` has no hosts"),
        (field("value = 's3cret'"), "missing field `hosts`"),
        (field("value = 's3cret', hosts = ['http://a/b']"), "www.example.com"),
        (field("value = \"s3cret\\n\", hosts = ['a.example']"), "control characters"),
        (field("value = 's3cret', host = ['a.example']"), "unknown field `host`"),
        (field("value = { evn = 's3cret' }, hosts = ['a.example']"), "{ env = \"NAME\" }"),
        (field("hosts = ['a.example'], value = 's3cret"), "line 2"),
    ] {
        let error = refusal(&text);
        assert!(error.starts_with("ours.toml: ") && error.contains(says), "{text}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn what_secrets_are_exposed_to_is_said() {
    let warnings = |text: &str| parse(text).check().unwrap().warnings().join("\n");
    assert_eq!(warnings(""), "");
    let proxied = warnings("[network]\nproxy = 'http://proxy.example:3128'");
    assert!(proxied.contains("past the guard") && !proxied.contains("in the clear"), "{proxied}");
    let open = warnings("[network]\nproxy = 'http://me:pr0xy@proxy.example:3128'");
    assert!(open.contains("password") && open.contains("in the clear") && !open.contains("pr0xy"), "{open}");
    let near = warnings("[network]\nproxy = 'http://me:pr0xy@127.0.0.1:3128'");
    assert!(!near.contains("in the clear"), "{near}");
    let field = |host: &str| {
        warnings(&format!("[fetch]\nheaders = [{{ name = 'Cookie', value = 'a=b', hosts = ['{host}'] }}]"))
    };
    assert_eq!(field("a.example"), "");
    assert!(field("http://a.example").contains("`Cookie` goes to http://a.example in the clear"));
}
