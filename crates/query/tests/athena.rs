//! What queries for Athena and Presto say, and how it is answered here.

use crate::world::{World, pages, sql};

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
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
}
