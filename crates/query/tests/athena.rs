//! What queries for Athena and Presto say, and how it is answered here.

use std::path::{Path, PathBuf};

use mattock_query::{Cancel, GivenTable, Language, QueryError, Session};

use crate::world::{Doc, World, pages, sql};

/// Why a query cannot be answered: told when it is planned, or when it runs.
fn refused(session: &Session, text: &str) -> String {
    let run = |query: mattock_query::Query| {
        query.run(&mut mattock_query::sink::MemorySink::default(), &mut |_| {}, &Cancel::new())
    };
    match session.plan(text, Language::Sql).and_then(run) {
        Ok(_) => panic!("it is answered: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn lists_are_turned_around_and_looked_through_as_lists() {
    let world = World::new(pages(60));
    let session = world.session();
    for (query, row) in [
        ("select reverse(split('www.example.org', '.')) as parts", r#"{"parts":["org","example","www"]}"#),
        ("select reverse('abc') as text, reverse(null) as nothing", r#"{"text":"cba","nothing":null}"#),
        (
            "select distinct reverse(split(url_host_name, '.')) as parts from documents where url_host_tld = 'com'",
            r#"{"parts":["com","example","c"]}"#,
        ),
        (
            "select count(*) as n from documents where contains(array['com', 'net'], url_host_tld)",
            r#"{"n":20}"#,
        ),
        ("select count(*) as n from documents where contains(url_host_name, '.example.')", r#"{"n":60}"#),
        (
            "select contains(array[1, 2], 2.5) as no, contains(array[1, 2], 2) as yes",
            r#"{"no":false,"yes":true}"#,
        ),
        ("select slice(array[1, 2, 3, 4], 2, 2) as part", r#"{"part":[2,3]}"#),
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
    assert!(refused(&session, "select slice(array[1, 2], -1, 1)").contains("array_slice(list, first, last)"));
}

#[test]
fn urls_are_taken_apart() {
    let world = World::new(pages(6));
    let session = world.session();
    let parts = "select url_extract_host(u) as host, url_extract_port(u) as port, url_extract_path(u) as path, \
                 url_extract_query(u) as query, url_extract_parameter(u, 'q') as q, url_decode('a+b%21') as plain \
                 from (select 'http://a.example:8080/x%20y?q=1%262' as u)";
    let row = r#"{"host":"a.example","port":8080,"path":"/x y","query":"q=1&2","q":"1&2","plain":"a b!"}"#;
    assert_eq!(sql(&session, parts), [row]);
    let hosts = "select count(*) as n from documents where URL_EXTRACT_HOST(url) = url_host_name";
    assert_eq!(sql(&session, hosts), [r#"{"n":6}"#]);
}

#[test]
fn functions_with_an_arrow_and_expressions_that_look_around() {
    let world = World::new(pages(6));
    let session = world.session();
    for (query, row) in [
        (
            "select transform(filter(split('/caf%C3%A9//x', '/'), w -> w != ''), w -> url_decode(w)) as words",
            r#"{"words":["café","x"]}"#,
        ),
        (
            "select regexp_extract_all('/en/de/x/fr/', '(?<=/)(?:[a-z][a-z])(?=/)') as languages",
            r#"{"languages":["en","de","fr"]}"#,
        ),
        ("select regexp_extract_all('a1b22', '([a-z])([0-9]+)', 2) as numbers", r#"{"numbers":["1","22"]}"#),
        ("select regexp_extract_all('a', 'b') as none", r#"{"none":[]}"#),
        ("select regexp_extract('/en/', '(?<=/)[a-z]+(?=/)') as language", r#"{"language":"en"}"#),
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
    assert!(
        refused(&session, "select regexp_extract(url, 'a(?!b)c') from documents")
            .contains("and nowhere else")
    );
}

#[test]
fn values_are_counted_into_maps() {
    let world = World::new(pages(60));
    let session = world.session();
    for (query, row) in [
        ("select histogram(url_host_tld) as tlds from documents", r#"{"tlds":{"com":20,"org":40}}"#),
        (
            "select map_agg(url_host_name, url_host_tld) as hosts from documents",
            r#"{"hosts":{"a.example.org":"org","b.example.org":"org","c.example.com":"com"}}"#,
        ),
        ("select histogram(url_host_tld) as tlds from documents where url = ''", r#"{"tlds":null}"#),
        (
            "select cast(slice(array_sort(cast(map_entries(histogram(url_host_tld)) as array(row(tld varchar, n bigint))), \
             (a, b) -> if(a.n < b.n, 1, if(a.n = b.n, 0, -1))), 1, 1) as JSON) as most from documents",
            r#"{"most":"[{\"tld\":\"org\",\"n\":40}]"}"#,
        ),
        (
            "select array_sort(array['b', 'a', 'c'], (x, y) -> case when x > y then -1 when x < y then 1 else 0 end) as letters",
            r#"{"letters":["c","b","a"]}"#,
        ),
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
    let grouped = "select url_host_tld, histogram(fetch_status) as h from documents group by 1 order by 1";
    let expected = [r#"{"url_host_tld":"com","h":{"200":20}}"#, r#"{"url_host_tld":"org","h":{"200":40}}"#];
    assert_eq!(sql(&session, grouped), expected);
}

#[test]
fn lists_become_rows() {
    let mut docs = pages(3);
    docs.push(Doc::page("http://d.example.org/", 1, "Last"));
    let world = World::new(docs);
    let session = world.session();
    let numbered = "select t.part, t.n, d.url_host_name from documents as d, \
                    unnest(split(d.url_host_name, '.')) with ordinality as t (part, n) where d.url_host_tld = 'com' order by t.n";
    let row = |part: &str, n: u32| format!(r#"{{"part":"{part}","n":{n},"url_host_name":"c.example.com"}}"#);
    assert_eq!(sql(&session, numbered), [row("c", 1), row("com", 3), row("example", 2)]);
    let counted = "select part, count(*) as n from ccindex cross join unnest(split(url_host_name, '.')) as t (part) \
                   group by part having count(*) > 1 order by 1";
    assert_eq!(sql(&session, counted), [r#"{"part":"example","n":4}"#, r#"{"part":"org","n":3}"#]);
    let linked =
        "select count(*) as links, count(distinct link) as pages from documents, unnest(links) as link";
    assert_eq!(sql(&session, linked), [r#"{"links":4,"pages":4}"#]);
    let alone = "select * from unnest(array['x', 'y']) with ordinality as t (letter, n)";
    assert_eq!(sql(&session, alone), [r#"{"letter":"x","n":1}"#, r#"{"letter":"y","n":2}"#]);
    let all = sql(&session, "select * from documents, unnest(links) as t (link) limit 1");
    assert!(all[0].contains("\"link\":") && !all[0].contains("\"links\":"), "{}", all[0]);
    let joined = "select * from documents a join documents b using (url), unnest(split(a.url, '/')) as t (x)";
    assert!(refused(&session, joined).contains("put what stands before `unnest` into a `with`"));
    let named = "select * from documents, unnest(links) as t (a, b)";
    assert!(refused(&session, named).contains("there are 2 names for 1 column(s)"));
}

#[test]
fn a_view_is_a_name_for_a_query_of_the_same_command() {
    let world = World::new(pages(60));
    let session = world.session();
    let text = "-- first, a name\ncreate or replace view hosts as\nwith t as (select url_host_name from documents)\n\
                select url_host_name, count(*) as n from t group by 1;\n\n-- then what is asked\nselect max(n) as most from hosts;\n";
    assert_eq!(sql(&session, text), [r#"{"most":20}"#]);
    assert!(refused(&session, "select * from hosts").contains("hosts' not found"));
    let alone = refused(&session, "create view hosts as select 1");
    assert!(alone.contains("of its own command only") && alone.contains("put a `;` behind it"), "{alone}");
    let taken =
        refused(&session, "create or replace view documents as select 1 as x; select * from documents");
    assert!(taken.contains("there is a table `documents` already"), "{taken}");
    assert!(refused(&session, "select 1; select 2").contains("ask them one by one"));
    for statement in ["drop view hosts", "create table t as select 1", "create table t as select 1; select 1"]
    {
        let told = refused(&session, statement);
        assert!(
            told.contains("only queries are answered here") || told.contains("more than one query"),
            "{told}"
        );
    }
}

#[test]
fn common_crawls_name_means_the_documents() {
    let world = World::new(pages(60));
    let session = world.session();
    for name in ["ccindex", "\"ccindex\".\"ccindex\"", "CCINDEX.ccindex", "\"documents\""] {
        let counted = sql(&session, &format!("select count(*) as n from {name}"));
        assert_eq!(counted, [r#"{"n":60}"#], "{name}");
        let sampled = format!("select url from {name} tablesample bernoulli (50) repeatable (7)");
        assert_eq!(sql(&session, &sampled), sql(&session, &sampled.replace(name, "documents")), "{name}");
        let all = sql(&session, &format!("select * from {name} where title like '%' limit 1"));
        assert!(!all[0].contains("\"title\""), "{}", all[0]);
    }
}

fn given(name: &str, columns: &[&str], path: &str) -> GivenTable {
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    GivenTable { name: name.to_owned(), columns, path: PathBuf::from(path) }
}

#[test]
fn a_file_is_a_table() {
    let world = World::new(pages(60));
    world.files.create_dir_all(Path::new("/tables")).unwrap();
    let write = |name: &str, text: &str| {
        world.files.write_atomic(&Path::new("/tables").join(name), text.as_bytes()).unwrap()
    };
    write("named.csv", "\u{feff}Rank, Site \n1,a.example.org\n2,\"b.example\n.org\"\n3,c.example.com\n");
    write("plain.csv", "1,a.example.org\n2,c.example.com\n");
    // A file of the repository is as good as any other.
    let part = world.source().parts[0].display().to_string();
    let session = world.session_with(|options| {
        options.tables = vec![
            given("ranks", &[], "/tables/named.csv"),
            given("plain", &["rank", "site"], "/tables/plain.csv"),
            given("part", &[], &part),
        ];
    });
    for (query, row) in [
        ("select min(rank) + sum(rank) as n from ranks", r#"{"n":7}"#),
        ("select site from ccindex.ranks where rank = 2", r#"{"site":"b.example\n.org"}"#),
        (
            "select r.rank, count(*) as pages from documents d join plain r on r.site = d.url_host_name group by 1 order by 1 desc limit 1",
            r#"{"rank":2,"pages":20}"#,
        ),
        ("select count(*) as n from part p join documents d using (instance)", r#"{"n":20}"#),
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
    let other =
        refused(&session, "select r.domain from ranks as r join documents d on r.site = d.url_host_name");
    assert!(other.contains("`r` has `rank`, `site`"), "{other}");
    // Each query reads it anew.
    write("plain.csv", "7,c.example.com\n");
    assert_eq!(sql(&session, "select rank from plain"), [r#"{"rank":7}"#]);
    write("plain.csv", "seven,c.example.com\n");
    assert!(refused(&session, "select rank from plain").contains("'seven'"));
}

#[test]
fn a_file_that_is_no_table_is_told_before_anything_is_asked() {
    let world = World::new(pages(6));
    world.files.create_dir_all(Path::new("/tables/directory")).unwrap();
    for (name, bytes) in [
        ("empty", b"".as_slice()),
        ("ragged", b"a,b\n1,2\n1,2,3\n"),
        ("unnamed", b"1,a.example\n"),
        ("twice", b"a,A\n1,2\n"),
        ("binary", b"\x7fELF\0\0"),
        ("packed", b"\x1f\x8b\x08\0"),
        ("cut", b"PAR1\0\0\0\0"),
    ] {
        world.files.write_atomic(&Path::new("/tables").join(name), bytes).unwrap();
    }
    let open = |table: GivenTable| {
        let options = mattock_query::Options {
            tables: vec![table],
            ..mattock_query::Options::new(mattock_env::Random::from_seed(5))
        };
        match Session::with_source(&world.files, world.source(), options) {
            Ok(_) => panic!("it is a table"),
            Err(error) => {
                assert!(matches!(error, QueryError::Table { .. }) && error.is_of_query());
                error.to_string()
            }
        }
    };
    for (name, columns, told) in [
        ("missing", [].as_slice(), "there is no such file"),
        ("empty", &[], "it is empty"),
        ("ragged", &[], "it cannot be read as CSV"),
        ("ragged", &["a", "b", "c"], "it cannot be read as CSV"),
        (
            "unnamed",
            &[],
            "its first line has no name for column 1, but `1`; if it has no names at all, say them, as in --table 't(column1,column2)=FILE'",
        ),
        ("unnamed", &["a"], "it has 2 columns, and there are 1 names for them"),
        ("twice", &[], "two of its columns are called `a`"),
        ("binary", &[], "it is neither CSV nor Parquet"),
        ("packed", &[], "it is compressed: unpack it first"),
        ("cut", &[], "it begins as a Parquet file and cannot be read as one"),
        ("cut", &["a"], "leave out those in parentheses"),
    ] {
        let error = open(given("t", columns, &format!("/tables/{name}")));
        assert!(error.starts_with(&format!("--table /tables/{name}: ")) && error.contains(told), "{error}");
    }
}

#[test]
fn tables_and_columns_can_be_asked_for() {
    let world = World::new(pages(6));
    let session = world.session();
    let tables = sql(&session, "show tables");
    assert!(tables.iter().any(|table| table.contains(r#""table_name":"documents""#)), "{tables:?}");
    for question in ["describe documents", "desc ccindex.ccindex", "show columns from documents"] {
        let columns = sql(&session, question);
        let title = r#"{"column_name":"title","data_type":"varchar","read_from":"archive","description":"the title"}"#;
        assert!(columns.iter().any(|column| column == title), "{question}: {columns:?}");
        assert!(columns.iter().any(|column| column.contains(r#""column_name":"url""#)));
    }
    let named = "select data_type from information_schema.columns where table_schema = 'ccindex' and column_name = 'links'";
    assert_eq!(sql(&session, named), [r#"{"data_type":"array(varchar)"}"#]);
    assert!(refused(&session, "describe document").contains("did you mean `documents`?"));
    assert!(refused(&session, "describe ranks").contains("--table ranks=FILE reads one"));
}

#[test]
fn mistakes_of_other_languages_are_told_with_what_to_write() {
    let world = World::new(pages(6));
    let session = world.session();
    for (query, told) in [
        ("select url from documents where title = \"It's Rust\"", "text in single ones: 'It''s Rust'"),
        ("select count_if(fetch_status = 200) from documents", "write `count(*) filter (where condition)`"),
        (
            "select site from ccindex.alexa_top_1m",
            "--table alexa_top_1m=FILE reads one from a CSV or Parquet file",
        ),
    ] {
        let error = refused(&session, query);
        assert!(error.contains(told), "{query}: {error}");
    }
    assert!(!refused(&session, "select titel from documents").contains("single"));
}
