//! Measures the repository: `cargo run --release -p mattock-drum --example bench -- KEYS MEMORY_MB [flat|simon|zipf] [no-cache]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks")]

use mattock_drum::bench::{BenchOptions, run};
use mattock_env::Env;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = BenchOptions::new(1_000_000, 64 << 20, "drum-bench".into());
    let mut numbers = 0;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "no-cache" => options.cache = false,
            "no-ram-set" => options.ram_set = false,
            name if name.starts_with(char::is_alphabetic) => options.stream = name.parse()?,
            number => {
                numbers += 1;
                if numbers == 1 {
                    options.keys = number.parse::<f64>()? as u64;
                } else {
                    options.memory_bytes = number.parse::<u64>()? << 20;
                }
            }
        }
    }
    let report = run(&Env::real(), &options, &mut |progress| {
        let (done, total) = (progress.checks as f64 / 1e6, progress.total as f64 / 1e6);
        let speed = progress.checks_per_second / 1e6;
        eprintln!("{}: {done:.0} of {total:.0} M checks, {speed:.2} M/s", progress.contender);
    })?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
