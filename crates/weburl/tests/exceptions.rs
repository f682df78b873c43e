//! Where we differ from the suites of others, and why. A case that is listed and does not differ any more is an error too.

/// Inputs for which we differ from the Web platform's tests on whether they are URLs.
pub(crate) const URLS: [(&str, &str); 10] = [
    ("http://./", "the root of all names is no host, and a final dot goes"),
    ("http://../", "the same"),
    ("http://foo.09..", "without its final dots it ends in a number, and is no address"),
    ("http://a.b.c.xn--pokxncvks", PUNYCODE),
    ("http://a.b.c.XN--pokxncvks", PUNYCODE),
    ("http://a.b.c.Xn--pokxncvks", PUNYCODE),
    ("http://10.0.0.xn--pokxncvks", PUNYCODE),
    ("http://10.0.0.XN--pokxncvks", PUNYCODE),
    ("http://10.0.0.xN--pokxncvks", PUNYCODE),
    ("https://xn--/", PUNYCODE),
];

const PUNYCODE: &str = "the standard now lets wrong punycode pass in ASCII names, the `idna` crate does not; \
                        no registry sells such names";

/// Names for which we differ from the Web platform's tests of names in other scripts, besides those with
/// [wrong punycode](is_wrong_punycode).
pub(crate) const IDNA: [(&str, &str); 2] = [
    ("\u{3e8ac}\u{3002}\u{729}\u{3002}\u{cbd9}5", UNASSIGNED),
    ("\u{3e8ac}\u{3002}\u{729}\u{3002}\u{110d}\u{1173}\u{11ac}5", UNASSIGNED),
];

const UNASSIGNED: &str =
    "the tables of the `idna` crate take this unassigned character for a letter; no registry sells it";

/// Whether we refuse a name in ASCII because of a label in punycode: [`PUNYCODE`] says why. The suite has hundreds of
/// them, so they are told by what they look like.
pub(crate) fn is_wrong_punycode(name: &str) -> bool {
    name.is_ascii() && name.split('.').any(|label| label.starts_with("xn--"))
}

/// Lines of the public suffix list's tests that do not hold for us.
pub(crate) const PUBLIC_SUFFIXES: [(&str, &str); 3] = [
    ("null", "there is no missing host name"),
    (".example.com", "an empty label never resolves; such a name counts for the domain that it ends in"),
    (".example.example", "the same"),
];
