use super::*;
use crate::record::Truncated;
use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};

fn row<'a>(number: u64, url: &'a str, file: &Arc<str>) -> Row<'a> {
    let stored = !number.is_multiple_of(3);
    Row {
        url,
        time: UnixTime::from_micros(1_000_000 * number as i64),
        outcome: if stored { "200" } else { "connect-timeout" },
        depth: (number % 7) as u32,
        took_ms: number * 11,
        digest: stored.then(|| Digest::of(&[url.as_bytes()])),
        place: stored.then(|| Place { file: file.clone(), offset: number * 1000, length: 999 }),
        truncated: number.is_multiple_of(5),
        details: stored.then(|| Details {
            mime: "text/html",
            via: number.is_multiple_of(4).then_some(number << 32),
            redirect: if number.is_multiple_of(2) { url } else { "" },
            truncated: number.is_multiple_of(5).then_some(Truncated::Time),
            domain_in_degree: (number.is_multiple_of(7)).then_some(number),
            sketch: Some(number + 1),
            revisit: number.is_multiple_of(11),
            ..Details::default()
        }),
    }
}

fn with_env(test: impl FnOnce(&Env)) {
    Simulation::new(1).run(|env| {
        test(&env);
        async {}
    });
}

fn urls(count: u64) -> Vec<String> {
    (0..count).map(|number| format!("http://host-{}.com/{number}", number % 9)).collect()
}

/// All rows, and how many blocks were damaged.
fn read(env: &Env, path: &Path, length: u64) -> (Vec<String>, usize) {
    let mut reader = LedgerReader::open(&env.files, path, length).unwrap();
    let (mut rows, mut damaged) = (Vec::new(), 0);
    loop {
        match reader.next_block(|row| rows.push(format!("{row:?}"))) {
            Ok(true) => {}
            Ok(false) => return (rows, damaged),
            Err(_) => damaged += 1,
        }
    }
}

#[test]
fn rows_come_back_in_order_and_what_is_behind_the_mark_does_not() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let mut ledger = Ledger::open(&env.files, path, 0).unwrap();
        let (urls, mut expected) = (urls(5000), Vec::new());
        let mut length = 0;
        for (number, url) in urls.iter().enumerate() {
            let row = row(number as u64, url, &Arc::from(format!("a-{}.warc.gz", number / 700)));
            ledger.append(&row).unwrap();
            if number < 4000 {
                expected.push(format!("{row:?}"));
            }
            if number == 3999 {
                let mut unsynced = Unsynced::new(&env.files);
                length = ledger.mark(&mut unsynced).unwrap();
                unsynced.sync().unwrap();
            }
        }
        ledger.mark(&mut Unsynced::new(&env.files)).unwrap();
        assert_eq!(read(env, path, length), (expected.clone(), 0));
        let mut again = Ledger::open(&env.files, path, length).unwrap();
        let one = row(7, &urls[7], &Arc::from("b"));
        again.append(&one).unwrap();
        expected.push(format!("{one:?}"));
        let length = again.mark(&mut Unsynced::new(&env.files)).unwrap();
        assert_eq!(read(env, path, length), (expected, 0));
    });
}

#[test]
fn damage_costs_a_block_and_shows() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let mut ledger = Ledger::open(&env.files, path, 0).unwrap();
        let urls = urls(4000);
        for (number, url) in urls.iter().enumerate() {
            ledger.append(&row(number as u64, url, &Arc::from("a"))).unwrap();
        }
        let length = ledger.mark(&mut Unsynced::new(&env.files)).unwrap();
        let whole = read(env, path, length).0;
        let (mut reader, mut block_rows) = (LedgerReader::open(&env.files, path, length).unwrap(), 0);
        loop {
            let mut rows = 0;
            if !reader.next_block(|_| rows += 1).unwrap() {
                break;
            }
            block_rows = block_rows.max(rows);
        }
        assert!(block_rows < whole.len() / 3);
        let bytes = env.files.read(path).unwrap();
        let mut random = Random::from_seed(4);
        for _ in 0..300 {
            let mut bytes = bytes.clone();
            let at = random.below(length) as usize;
            bytes[at] ^= 1 << random.below(8);
            env.files.write_atomic(path, &bytes).unwrap();
            match LedgerReader::open(&env.files, path, length) {
                Err(RepositoryError::Damaged { .. } | RepositoryError::Version { .. }) => assert!(at < 12),
                Err(error) => panic!("{error}"),
                Ok(_) => {
                    let (rows, damaged) = read(env, path, length);
                    assert_eq!(damaged, 1);
                    let lost = whole.len() - rows.len();
                    assert!((1..=block_rows).contains(&lost), "{lost} rows are more than a block");
                    let first =
                        rows.iter().zip(&whole).position(|(row, was)| row != was).unwrap_or(rows.len());
                    assert_eq!(
                        rows[first..],
                        whole[first + lost..],
                        "the others are there, and none is invented"
                    );
                }
            }
        }
        for _ in 0..100 {
            let kept = random.below(length) as usize;
            env.files.write_atomic(path, &bytes[..kept]).unwrap();
            assert!(LedgerReader::open(&env.files, path, length).is_err());
            assert!(Ledger::open(&env.files, path, length).is_err());
        }
    });
}

#[test]
fn a_ledger_of_version_2_is_read_and_goes_on_with_what_pages_were_found_on() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let file: Arc<str> = Arc::from("a");
        let urls = urls(100);
        let mut ledger = Ledger::open(&env.files, path, 0).unwrap();
        let mut expected = Vec::new();
        for (number, url) in urls.iter().enumerate() {
            let mut row = row(number as u64, url, &file);
            row.details = row.details.map(|details| Details { via: None, ..details });
            ledger.append(&row).unwrap();
            expected.push(format!("{row:?}"));
        }
        let length = ledger.mark(&mut Unsynced::new(&env.files)).unwrap();
        // What was written without `via` has the bytes of version 2.
        let mut bytes = env.files.read(path).unwrap();
        bytes[8] = 2;
        env.files.write_atomic(path, &bytes).unwrap();
        assert_eq!(read(env, path, length), (expected.clone(), 0));
        assert_eq!(env.files.read(path).unwrap()[8], 2, "reading changes nothing");
        let mut again = Ledger::open(&env.files, path, length).unwrap();
        let one = row(4, &urls[4], &file);
        assert!(one.details.unwrap().via.is_some());
        again.append(&one).unwrap();
        expected.push(format!("{one:?}"));
        let length = again.mark(&mut Unsynced::new(&env.files)).unwrap();
        assert_eq!(read(env, path, length), (expected, 0));
        assert_eq!(env.files.read(path).unwrap()[8], LEDGER_VERSION as u8);
    });
}

#[test]
fn a_ledger_of_version_1_stays_one() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let length = Ledger::open(&env.files, path, 0).unwrap().mark(&mut Unsynced::new(&env.files)).unwrap();
        let mut bytes = env.files.read(path).unwrap();
        bytes[8] = 1;
        env.files.write_atomic(path, &bytes).unwrap();
        let mut ledger = Ledger::open(&env.files, path, length).unwrap();
        let row = row(4, "http://a.com/", &Arc::from("a"));
        ledger.append(&row).unwrap();
        let length = ledger.mark(&mut Unsynced::new(&env.files)).unwrap();
        let without = Row { details: None, ..row };
        assert_eq!(read(env, path, length), (vec![format!("{without:?}")], 0));
        assert_eq!(env.files.read(path).unwrap()[8], 1);
    });
}
