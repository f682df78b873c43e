//! The wall clock of a trial is set, forward and back, while a life lasts and between two.

use std::time::Duration;

use mattock_env::{Clock, Random};
use tokio::task::JoinHandle;

/// How far it is set at most.
const FAR_S: u64 = 40 * 3600;

/// When, in seconds since the beginning of a life, and by how much, in seconds.
pub(super) type Jump = (f64, i64);

/// What is done to the clock in a life; nothing in most. A jump at the beginning is one that came while nobody crawled.
pub(super) fn draw(random: &mut Random) -> Vec<Jump> {
    if random.below(3) > 0 {
        return Vec::new();
    }
    let jumps = 1 + random.below(4);
    let mut at = 0.0;
    let mut all = Vec::new();
    for _ in 0..jumps {
        let by = random.below(2 * FAR_S).cast_signed() - FAR_S.cast_signed();
        all.push((at, by));
        at += 60.0 * random.unit();
    }
    all
}

/// Has it happen.
pub(super) fn begin(clock: &Clock, jumps: Vec<Jump>) -> JoinHandle<()> {
    let clock = clock.clone();
    let mut passed = 0.0;
    tokio::task::spawn_local(async move {
        for (at, by) in jumps {
            clock.sleep(Duration::from_secs_f64(at - passed)).await;
            passed = at;
            let duration = Duration::from_secs(by.unsigned_abs());
            if by < 0 { clock.set_back(duration) } else { clock.set_forward(duration) }
        }
    })
}
