//! What a URL names: a store (a bucket, a container, a server) and a key in it.
//!
//! Behind [`check_url`], which takes what users write, a URL is plain text: `scheme://store/key` with the key as it is, so that names can be
//! appended to it as to a path.

use percent_encoding::percent_decode_str;

use crate::error::ObjectsError;

/// Kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    S3,
    Google,
    Azure,
    Http,
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address<'a> {
    pub(crate) kind: Kind,
    /// With its scheme: `s3://bucket`.
    pub(crate) store: &'a str,
    /// Bucket, container or server.
    pub(crate) name: &'a str,
    pub(crate) key: &'a str,
}

impl<'a> Address<'a> {
    pub(crate) fn parse(url: &'a str) -> Result<Address<'a>, ObjectsError> {
        let scheme = url.split("://").next().unwrap_or_default();
        let kind = match scheme {
            "file" => Kind::File,
            "s3" | "s3a" => Kind::S3,
            "gs" => Kind::Google,
            "az" | "azure" | "abfs" | "abfss" => Kind::Azure,
            "http" | "https" => Kind::Http,
            _ => return Err(ObjectsError::Scheme { url: url.to_owned(), scheme: scheme.to_owned() }),
        };
        let begin = (scheme.len() + 3).min(url.len());
        let end = url[begin..].find('/').map_or(url.len(), |at| begin + at);
        let (store, name) = (&url[..end], &url[begin..end]);
        let key = url[end..].trim_matches('/');
        match (kind, name) {
            (Kind::File, "") => {}
            (Kind::File, _) => return Err(ObjectsError::FileHost { url: url.to_owned() }),
            (_, "") => return Err(ObjectsError::NoStore { url: url.to_owned() }),
            // It becomes part of the name of a server, and must not end it.
            (Kind::S3 | Kind::Google | Kind::Azure, _) if !name.bytes().all(is_of_bucket) => {
                return Err(ObjectsError::Bucket { url: url.to_owned() });
            }
            (Kind::Http, _) if !name.bytes().all(is_of_server) => {
                return Err(ObjectsError::Server { url: url.to_owned() });
            }
            _ => {}
        }
        Ok(Address { kind, store, name, key })
    }
}

/// Whether names of buckets and containers may have this byte, or an account behind an `@`.
fn is_of_bucket(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.$@".contains(&byte)
}

/// Whether names and addresses of servers may have it, a port, or a login, which is refused elsewhere. Names of other scripts are not ASCII.
fn is_of_server(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.:[]@".contains(&byte) || !byte.is_ascii()
}

/// A URL as a user wrote it in the form that files are named by: no slash at the end, and of `file:` and HTTP URLs what `%41` means.
/// Keys of buckets have no such thing: there it is what it says, as the tools of the providers have it.
pub fn check_url(text: &str) -> Result<String, ObjectsError> {
    let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
    let text = format!("{}://{rest}", scheme.to_ascii_lowercase());
    let text = text.replacen("file://localhost/", "file:///", 1);
    let address = Address::parse(&text)?;
    if let (Kind::Http, Some((_, server))) = (address.kind, address.name.rsplit_once('@')) {
        let url = format!("{}://{server}/{}", scheme.to_ascii_lowercase(), address.key);
        return Err(ObjectsError::Login { url });
    }
    let key = match address.kind {
        Kind::File | Kind::Http => {
            if address.key.contains(['?', '#']) {
                // It may be what lets whoever has it in.
                let url = text.split(['?', '#']).next().unwrap_or_default().to_owned();
                return Err(ObjectsError::Query { url });
            }
            let decoded = percent_decode_str(address.key).decode_utf8();
            decoded.map_err(|_| ObjectsError::Key { url: text.clone() })?.into_owned()
        }
        _ => address.key.to_owned(),
    };
    let is_bad = |part: &str| {
        ["", ".", ".."].contains(&part) || part.contains(|letter: char| letter.is_ascii_control())
    };
    if !key.is_empty() && key.split('/').any(is_bad) {
        return Err(ObjectsError::Key { url: text.clone() });
    }
    crate::stores::is_compiled_in(address.kind, &text)?;
    Ok(if key.is_empty() { address.store.to_owned() } else { format!("{}/{key}", address.store) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_and_keys() {
        for (url, kind, store, name, key) in [
            ("file:///a/b c", Kind::File, "file://", "", "a/b c"),
            ("s3://bucket/web/x", Kind::S3, "s3://bucket", "bucket", "web/x"),
            ("gs://bucket", Kind::Google, "gs://bucket", "bucket", ""),
            (
                "abfss://c@a.dfs.core.windows.net/k",
                Kind::Azure,
                "abfss://c@a.dfs.core.windows.net",
                "c@a.dfs.core.windows.net",
                "k",
            ),
            ("http://127.0.0.1:80/k/", Kind::Http, "http://127.0.0.1:80", "127.0.0.1:80", "k"),
        ] {
            assert_eq!(Address::parse(url).unwrap(), Address { kind, store, name, key });
        }
    }

    #[test]
    fn a_bucket_is_no_server() {
        for url in ["s3://127.0.0.1:9000#/x", "s3://a?x=/y", "gs://a b/x", "az://a%2fb/x", "abfss://c@a:80/x"]
        {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains("names no bucket"), "{error}");
        }
        for url in ["http://a\"b/x", "http://a b", "https://a?b/x", "http://a\\b/x", "http://a%41/x"] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains("names no server"), "{error}");
        }
        for url in ["s3://my-bucket.of_mine/x", "az://$web/x", "http://[::1]:80/x", "http://ä.example/"] {
            Address::parse(url).unwrap();
        }
    }

    #[test]
    fn what_users_write() {
        assert_eq!(check_url("file:///a%20b/").unwrap(), "file:///a b");
        assert_eq!(check_url("FILE://localhost/a").unwrap(), "file:///a");
        assert_eq!(check_url("file:///").unwrap(), "file://");
        let said = |text: &str| check_url(text).unwrap_err().to_string();
        assert!(said("ftp://host/x").contains("`ftp` is not among"), "{}", said("ftp://host/x"));
        assert!(said("file://host/x").contains("three slashes"));
        assert!(said("s3:///x").contains("names no bucket"));
        for url in ["file:///a//b", "file:///a/../b", "file:///%ff", "file:///a%00"] {
            assert!(said(url).contains("is no key"), "{url}");
        }
        assert!(said("file:///a?b").contains("behind the `?`"));
        assert!(!said("https://server/a?sig=s3cret").contains("s3cret"));
        let login = said("HTTPS://me:s3cret@server:8443/a/b");
        assert!(login.starts_with("https://server:8443/a/b: a name and a password"), "{login}");
    }

    #[cfg(feature = "aws")]
    #[test]
    fn keys_of_buckets_are_as_they_are() {
        assert_eq!(check_url("s3://b/a%20b/").unwrap(), "s3://b/a%20b");
        assert_eq!(check_url("s3://b/").unwrap(), "s3://b");
    }
}
