//! What the status of a `robots.txt` request means, before any rule is read (RFC 9309, 2.3.1).

/// What follows from the status of a `robots.txt` response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The body holds the rules: parse it.
    Rules,
    /// The site has no rules ("unavailable"): everything may be fetched.
    AllowAll,
    /// The site could not say ("unreachable"): nothing may be fetched until it can.
    DisallowAll,
}

/// Why nothing may be fetched from a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisallowReason {
    /// DNS, connection, timeout or a body that was cut short by the network.
    Unreachable,
    /// A 5xx status, or one that HTTP does not know.
    ServerError,
    /// Status 429: the host asked for fewer requests.
    RateLimited,
    /// A redirect of `robots.txt` led where the crawler does not go, such as a private address.
    RefusedRedirect,
    /// The operator excluded the host.
    Operator,
}

/// Maps the final status of a `robots.txt` request, redirects already followed.
///
/// A 3xx here is one that could not be followed (too many hops, no target) and counts as unavailable. 429 is the one
/// 4xx that means "not now" instead of "not there".
pub fn access_for_status(status: u16) -> Access {
    match status {
        200..=299 => Access::Rules,
        429 => Access::DisallowAll,
        300..=499 => Access::AllowAll,
        _ => Access::DisallowAll,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_decides_the_access() {
        for (status, access) in [
            (200, Access::Rules),
            (204, Access::Rules),
            (301, Access::AllowAll),
            (401, Access::AllowAll),
            (403, Access::AllowAll),
            (404, Access::AllowAll),
            (410, Access::AllowAll),
            (429, Access::DisallowAll),
            (499, Access::AllowAll),
            (500, Access::DisallowAll),
            (503, Access::DisallowAll),
            (0, Access::DisallowAll),
            (199, Access::DisallowAll),
            (999, Access::DisallowAll),
        ] {
            assert_eq!(access_for_status(status), access, "status {status}");
        }
    }
}
