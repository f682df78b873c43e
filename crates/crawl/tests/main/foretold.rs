//! The names of published records tell nothing of DNS queries to come, and partitions do not repeat each other's.
//!
//! SplitMix64 is a counter under a mix that can be undone: whoever sees one output knows the seed, and with it the generators of everything
//! else that was forked from it. That was true of real crawls once, and this is how it was done.

use mattock_env::{Datagrams, Env, Random};
use mattock_fetch::{Families, NameServers, Resolver};
use mattock_repository::RecordId;

const NAMES: usize = 16;
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// What SplitMix64 makes of its counter.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The counter that [`mix`] makes this of.
fn unmixed(mut z: u64) -> u64 {
    let unshifted = |z: u64, by: u32| z ^ (z >> by) ^ (z >> (2 * by));
    let inverse = |odd: u64| {
        (0..6).fold(odd, |guess: u64, _| guess.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(guess))))
    };
    z = unshifted(z, 31).wrapping_mul(inverse(0x94d0_49bb_1331_11eb));
    z = unshifted(z, 27).wrapping_mul(inverse(0xbf58_476d_1ce4_e5b9));
    unshifted(z, 30)
}

/// The seed whose fork of this name begins with this record's id, if there is one. Six bits of it are those of every id of its kind.
fn seed_of(id: RecordId, fork: &str) -> Option<u64> {
    let digits: String =
        id.to_string().chars().skip("<urn:uuid:".len()).filter(char::is_ascii_hexdigit).collect();
    let bits = u128::from_str_radix(&digits, 16).unwrap();
    let (high, low) = ((bits >> 64) as u64, bits as u64);
    let begun = (0..16)
        .map(|nibble| unmixed(high & !(0xf << 12) | nibble << 12))
        .find(|state| mix(state.wrapping_add(STEP)) << 2 == low << 2)?;
    let forked = unmixed(begun.wrapping_sub(STEP));
    Some(fork.bytes().rev().fold(forked, |state, byte| unmixed(state) ^ u64::from(byte)))
}

/// Says of every name that it does not exist, and gives the ids of the queries.
async fn refuse(server: &Datagrams) -> Vec<u16> {
    let (mut ids, mut buffer) = (Vec::new(), [0; 512]);
    while ids.len() < NAMES {
        let (count, from) = server.receive_from(&mut buffer).await.unwrap();
        ids.push(u16::from_be_bytes([buffer[0], buffer[1]]));
        (buffer[2], buffer[3]) = (0x80, 3);
        server.send_to(&buffer[..count], from).await.unwrap();
    }
    ids
}

/// The ids with which a partition of a crawl in this world asks for the addresses of so many names.
async fn ids_of(env: &Env) -> Vec<u16> {
    let server = env.net.datagrams("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let servers = NameServers(vec![server.address().unwrap()]);
    let resolver = Resolver::new(env, servers, Families::V4Only, 100);
    let asked = async {
        for number in 0..NAMES {
            assert!(resolver.resolve(&format!("host-{number}.example")).await.is_err());
        }
    };
    tokio::join!(refuse(&server), asked).0
}

/// How many of the ids are foretold from the id of a record that the partition has published.
fn foretold(record: RecordId, ids: &[u16]) -> usize {
    let Some(seed) = seed_of(record, "warc 0") else { return 0 };
    let mut same = Random::from_seed(seed).fork("resolver");
    ids.iter().filter(|id| **id == same.next_u64() as u16).count()
}

#[test]
fn record_ids_do_not_foretell_dns_queries() {
    let env = Env::real();
    let record = RecordId::new(&mut env.random.fork("warc 0"));
    let ids = mattock_env::run(ids_of(&env));
    assert_eq!(foretold(record, &ids), 0, "of {NAMES}");
    // The simulation keeps its seed, and with it shows that this is how it is done.
    let seeded = Env { random: Random::from_seed(7), ..Env::real() };
    let record = RecordId::new(&mut seeded.random.fork("warc 0"));
    let ids = mattock_env::run(ids_of(&seeded));
    assert_eq!(foretold(record, &ids), NAMES);
}

#[test]
fn partitions_ask_with_ids_of_their_own() {
    let env = Env::real();
    let partitions = [env.clone(), env.clone()];
    let [one, other] = partitions.map(|env| mattock_env::run(async move { ids_of(&env).await }));
    assert_ne!(one, other);
}
