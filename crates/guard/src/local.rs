//! Names that mean this machine, its network, or the machine's provider: nobody on the Web is found by them.

/// What such names end in: special-use names (RFC 6761, 6762, 8375, and `internal`, which is reserved), and those that networks of offices,
/// homes and clusters use without being given them.
const LOCAL_SUFFIXES: [&str; 12] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "private",
    "home.arpa",
    "corp",
    "home",
    "lan",
    "svc",
    "consul",
];

/// Public names under which providers answer their own machines.
const METADATA_NAMES: [&str; 4] =
    ["metadata.goog", "metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net"];

/// Whether a name is one of these. A name without a dot is completed by the resolver of whoever asks, so it is local too.
pub(crate) fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    !name.contains('.')
        || LOCAL_SUFFIXES.iter().any(|suffix| is_below(name, suffix))
        || METADATA_NAMES.iter().any(|known| is_below(name, known))
}

/// Whether a name leads back to whoever looks it up (RFC 6761, 6.3).
pub(crate) fn is_this_machine(name: &str) -> bool {
    is_below(name.trim_end_matches('.'), "localhost")
}

/// Whether a name is `domain` or below it.
fn is_below(name: &str, domain: &str) -> bool {
    let Some(at) = name.len().checked_sub(domain.len()) else { return false };
    let (before, end) = name.as_bytes().split_at(at);
    end.eq_ignore_ascii_case(domain.as_bytes()) && (before.is_empty() || before.ends_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_are_known_in_any_spelling() {
        for name in [
            "localhost",
            "LocalHost.",
            "a.b.localhost",
            "printer.local",
            "metadata.google.internal",
            "metadata",
            "instance-data.ec2.internal",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "metadata.goog",
            "x.metadata.goog",
            "metadata.tencentyun.com",
            "router.home.arpa",
            "nas.lan",
        ] {
            assert!(is_local(name), "{name}");
        }
        for name in [
            "www.example.com",
            "local.example.com",
            "notlocalhost.com",
            "metadata.example.com",
            "mylocal.org",
        ] {
            assert!(!is_local(name), "{name}");
        }
        assert!(is_this_machine("a.localhost") && !is_this_machine("a.local"));
    }
}
