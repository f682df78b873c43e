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
                length = ledger.mark(&mut unsynced, env.clock.unix()).unwrap();
                unsynced.sync().unwrap();
            }
        }
        ledger.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
        assert_eq!(read(env, path, length), (expected.clone(), 0));
        let mut again = Ledger::open(&env.files, path, length).unwrap();
        let one = row(7, &urls[7], &Arc::from("b"));
        again.append(&one).unwrap();
        expected.push(format!("{one:?}"));
        let length = again.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
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
        let length = ledger.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
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
                    let of_mark = at as u64 >= length - (BLOCK_HEADER_BYTES + MARK_BYTES) as u64;
                    assert!(
                        if of_mark { lost == 0 } else { (1..=block_rows).contains(&lost) },
                        "{lost} rows are more than a block"
                    );
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
        let length = ledger.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
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
        let length = again.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
        assert_eq!(read(env, path, length), (expected, 0));
        assert_eq!(env.files.read(path).unwrap()[8], LEDGER_VERSION as u8);
    });
}

#[test]
fn a_ledger_of_version_1_stays_one() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let length = Ledger::open(&env.files, path, 0)
            .unwrap()
            .mark(&mut Unsynced::new(&env.files), env.clock.unix())
            .unwrap();
        let mut bytes = env.files.read(path).unwrap();
        bytes[8] = 1;
        env.files.write_atomic(path, &bytes).unwrap();
        let mut ledger = Ledger::open(&env.files, path, length).unwrap();
        let row = row(4, "http://a.com/", &Arc::from("a"));
        ledger.append(&row).unwrap();
        let length = ledger.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
        let without = Row { details: None, ..row };
        assert_eq!(read(env, path, length), (vec![format!("{without:?}")], 0));
        assert_eq!(env.files.read(path).unwrap()[8], 1);
    });
}

/// How many rows there are of every time of insertion; 0 is that of the visit itself.
fn inserted(env: &Env, path: &Path, position: u64, length: u64) -> Vec<(i64, usize)> {
    let mut reader = LedgerReader::open_at(&env.files, path, position, length).unwrap();
    let mut times: Vec<(i64, usize)> = Vec::new();
    let mut visit = |row: &Row<'_>, time: UnixTime| {
        let time = if time == row.visit_end() { 0 } else { time.as_micros() };
        match times.last_mut() {
            Some((last, count)) if *last == time => *count += 1,
            _ => times.push((time, 1)),
        }
    };
    while !matches!(reader.next_inserted(&mut visit), Ok(false)) {}
    times
}

/// A ledger with marks of these rows and times; the length behind each.
fn marked(env: &Env, path: &Path, marks: &[(u64, i64)]) -> Vec<u64> {
    let length = env.files.entry(path).unwrap().map_or(0, |entry| entry.len);
    let mut ledger = Ledger::open(&env.files, path, length).unwrap();
    let lengths = marks.iter().map(|(count, time)| {
        for (number, url) in urls(*count).iter().enumerate() {
            ledger.append(&row(number as u64 + 1, url, &Arc::from("a"))).unwrap();
        }
        ledger.mark(&mut Unsynced::new(&env.files), UnixTime::from_micros(*time)).unwrap()
    });
    lengths.collect()
}

#[test]
fn rows_know_when_they_were_inserted_from_wherever_they_are_read() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let marks = [(2500, 101), (3, 102), (0, 103), (1, 104), (1200, 105)];
        let lengths = marked(env, path, &marks);
        assert_eq!(lengths[1], lengths[2], "nothing is added where nothing came");
        let all: Vec<(i64, usize)> = [101, 102, 104, 105].into_iter().zip([2500, 3, 1, 1200]).collect();
        assert_eq!(inserted(env, path, 0, lengths[4]), all);
        assert_eq!(inserted(env, path, 0, lengths[3]), all[..3], "what comes later changes nothing");
        let mut reader = LedgerReader::open(&env.files, path, lengths[4]).unwrap();
        let mut left = 3704;
        while reader.next_block(|_| left -= 1).unwrap() {
            let seen: usize =
                inserted(env, path, reader.position(), lengths[4]).iter().map(|(_, rows)| rows).sum();
            assert_eq!(seen, left);
            assert!(
                inserted(env, path, reader.position(), lengths[4])
                    .iter()
                    .all(|entry| { all.iter().any(|(time, rows)| *time == entry.0 && entry.1 <= *rows) })
            );
        }
    });
}

#[test]
fn rows_of_earlier_versions_keep_the_end_of_their_visit() {
    with_env(|env| {
        for version in [1, 2, 4] {
            let path = Path::new("/ledger");
            let _ = env.files.remove_file(path);
            let length = marked(env, path, &[(700, 101)])[0] - (BLOCK_HEADER_BYTES + MARK_BYTES) as u64;
            let mut bytes = env.files.read(path).unwrap();
            bytes.truncate(length as usize);
            bytes[8] = version;
            env.files.write_atomic(path, &bytes).unwrap();
            assert_eq!(inserted(env, path, 0, length), [(0, 700)]);
            let lengths = marked(env, path, &[(5, 102), (6, 103)]);
            let later: &[(i64, usize)] =
                if version == 1 { &[(0, 711)] } else { &[(0, 700), (102, 5), (103, 6)] };
            assert_eq!(inserted(env, path, 0, lengths[1]), later, "version {version}");
        }
    });
}

#[test]
fn damage_gives_no_row_the_time_of_others() {
    with_env(|env| {
        let path = Path::new("/ledger");
        let length = *marked(env, path, &[(2000, 101), (3, 102), (1500, 103)]).last().unwrap();
        let bytes = env.files.read(path).unwrap();
        let mut random = Random::from_seed(6);
        for _ in 0..300 {
            let mut bytes = bytes.clone();
            // Also the few bytes of marks.
            let at = match random.below(2) {
                0 => 12 + random.below(length - 12),
                _ => length - 1 - random.below(28),
            };
            bytes[at as usize] ^= 1 << random.below(8);
            env.files.write_atomic(path, &bytes).unwrap();
            for (time, rows) in inserted(env, path, 0, length) {
                let most = match time {
                    0 => 2000,
                    101 => 2000,
                    102 => 3,
                    103 => 1500,
                    other => panic!("{other}"),
                };
                assert!(rows <= most, "{at}: {rows} rows of {time}");
            }
        }
    });
}
