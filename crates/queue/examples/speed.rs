//! Measures the queues: `cargo run --release -p mattock-queue --example speed -- RECORDS MEMORY_MB DIR`.
//!
//! Records of 100 bytes go in and come out: within the memory, through the disk, and from one queue to others and back.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::path::Path;

use mattock_env::{Env, cpu_seconds, peak_resident_bytes, thread_cpu_seconds};
use mattock_queue::{Options, Queue, QueueError, Queues};

const BYTES: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let records = arguments.next().map_or(Ok(2e7), |number| number.parse::<f64>())? as u64;
    let memory = arguments.next().map_or(Ok(64), |number| number.parse::<usize>())? << 20;
    let dir = arguments.next().unwrap_or_else(|| "queue-speed".into());
    let env = Env::real();
    let queues = Queues::open(&env, Path::new(&dir), &Options::new(memory))?;

    let small = queues.queue("small");
    let fits = (memory / 4 / BYTES) as u64;
    let rounds = (records / fits).max(1);
    measure(&env, "in memory: push and pop", fits * rounds, || {
        for _ in 0..rounds {
            push(&small, fits)?;
            pop(&small, fits)?;
        }
        Ok(())
    })?;

    let large = queues.queue("large");
    measure(&env, "through the disk: push", records, || push(&large, records))?;
    let before = env.clock.now();
    let capture = queues.capture()?;
    let captured = env.clock.now().since(before);
    capture.wait()?;
    let durable = env.clock.now().since(before);
    println!(
        "checkpoint: captured in {:.2} ms, durable after {:.0} ms",
        captured.as_secs_f64() * 1e3,
        durable.as_secs_f64() * 1e3
    );
    let stats = queues.stats();
    let overhead = (stats.disk_bytes as f64 - large.bytes() as f64) / records as f64;
    println!("disk: {} MB, {overhead:.2} bytes per record beyond its text", stats.disk_bytes >> 20);

    let targets: Vec<Queue> = (0..16).map(|number| queues.queue(&format!("Q{number}"))).collect();
    measure(&env, "a pass: pop, and push to 16 queues or back", records, || {
        let mut number = 0;
        large.try_pop_with(large.len(), |record| {
            number += 1;
            if number % 2 == 0 { large.push(record) } else { targets[number / 2 % 16].push(record) }
        })?;
        Ok(())
    })?;
    measure(&env, "through the disk: pop", records, || {
        targets.iter().chain([&large]).try_for_each(|queue| pop(queue, queue.len()))
    })?;
    let stats = queues.stats();
    println!("read {} MB, written {} MB", stats.read_bytes >> 20, stats.written_bytes >> 20);
    println!("peak resident: {} MB", peak_resident_bytes().unwrap_or(0) >> 20);
    drop((queues, small, large, targets));
    env.files.remove_dir_all(Path::new(&dir))?;
    Ok(())
}

fn push(queue: &Queue, records: u64) -> Result<(), QueueError> {
    let mut record = [b'u'; BYTES];
    for number in 0..records {
        record[..8].copy_from_slice(&number.to_le_bytes());
        queue.push(&record)?;
    }
    Ok(())
}

fn pop(queue: &Queue, records: u64) -> Result<(), QueueError> {
    let mut sum = 0u64;
    let popped = queue.pop_with(records, |record| sum += u64::from(record[0]) + record.len() as u64)?;
    assert!(popped == records && sum >= records, "{popped} of {records} came out");
    Ok(())
}

fn measure(
    env: &Env,
    what: &str,
    records: u64,
    run: impl FnOnce() -> Result<(), QueueError>,
) -> Result<(), QueueError> {
    let (before, thread, process) = (env.clock.now(), thread_cpu_seconds(), cpu_seconds().unwrap_or(0.0));
    run()?;
    let seconds = env.clock.now().since(before).as_secs_f64();
    let per_record = |seconds: f64| seconds * 1e9 / records as f64;
    println!(
        "{what}: {:.0} ns per record, {:.0} of them processor time of the caller, {:.0} of all threads; {:.2} GB/s",
        per_record(seconds),
        per_record(thread_cpu_seconds() - thread),
        per_record(cpu_seconds().unwrap_or(0.0) - process),
        records as f64 * BYTES as f64 / seconds / 1e9
    );
    Ok(())
}
