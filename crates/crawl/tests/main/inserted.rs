//! What was in the repository at a moment can be asked for ever: rows know the checkpoint that committed them, and what is committed
//! later is later, whenever its visit began, whatever the clock says, and however a run ended.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use mattock_crawl::{Control, SavedCrawl};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_repository::LedgerReader;

use crate::world::{crawl_until, tiny};

const ROOT: &str = "/crawl";
const CHANGE: &str =
    "[crawl]\npartitions = 2\nmemory = '128MiB'\n[checkpoint]\nevery = '5s'\n[politeness]\ndelay = '1s'";

/// A row: its URL, when its visit began, and when it was inserted.
type Inserted = (String, i64, i64);

/// All committed rows; none before there is a checkpoint.
fn committed(env: &Env) -> BTreeSet<Inserted> {
    let Ok(saved) = SavedCrawl::open(env, Path::new(ROOT)) else { return BTreeSet::new() };
    let mut rows = BTreeSet::new();
    for ledger in saved.ledgers() {
        let mut reader = LedgerReader::open(&env.files, &ledger.path, ledger.bytes).unwrap();
        let mut take = |row: &mattock_repository::Row<'_>, time: mattock_env::UnixTime| {
            rows.insert((row.url.to_owned(), row.time.as_micros(), time.as_micros()));
        };
        while reader.next_inserted(&mut take).unwrap() {}
    }
    rows
}

/// When the newest of them was inserted.
fn newest(rows: &BTreeSet<Inserted>) -> Option<i64> {
    rows.iter().map(|(.., inserted)| *inserted).max()
}

/// What was seen of the repository, again and again, in all runs.
type Seen = Rc<RefCell<Vec<BTreeSet<Inserted>>>>;

/// Crawls for a while and looks; a run that does not stop is cut off wherever it is.
async fn crawl_and_look(env: &Env, life: u64, stops: bool, seen: Seen) {
    let control = Control::default();
    let crawling = crawl_until(env, tiny(5), Path::new(ROOT), CHANGE, control.clone());
    let looking = async {
        for step in 0..8 {
            match (life + step) % 4 {
                0 => env.clock.set_back(Duration::from_secs(7000)),
                2 => env.clock.set_forward(Duration::from_secs(3600)),
                _ => {}
            }
            env.clock.sleep(Duration::from_millis(3_300 + 100 * life)).await;
            seen.borrow_mut().push(committed(env));
        }
        if stops {
            control.stop();
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        _ = crawling => {}
        () = looking => {}
    }
}

#[test]
fn what_was_there_at_a_date_is_the_same_for_ever() {
    let mut simulation = Simulation::new(5);
    let seen = Seen::default();
    for (life, stops) in [false, true, false, true].into_iter().enumerate() {
        let seen = seen.clone();
        simulation.run(|env| async move { crawl_and_look(&env, life as u64, stops, seen).await });
    }
    let last = simulation.run(|env| async move { committed(&env) });
    let seen = seen.take();
    let dates: BTreeSet<Option<i64>> = seen.iter().map(newest).collect();
    assert!(dates.len() > 6 && newest(&last).is_some(), "{dates:?}");
    let (mut earlier_visits, mut compared) = (0, 0);
    for then in seen {
        let Some(date) = newest(&then) else { continue };
        let again: BTreeSet<Inserted> =
            last.iter().filter(|(.., inserted)| *inserted <= date).cloned().collect();
        assert_eq!(again, then, "as of {date}");
        let last_visit = then.iter().map(|(_, began, _)| *began).max();
        earlier_visits += last.iter().filter(|row| row.2 > date && Some(row.1) < last_visit).count();
        compared += 1;
    }
    assert!(
        compared > 20 && earlier_visits > 0,
        "{compared} looks, {earlier_visits} later rows of earlier visits"
    );
}
