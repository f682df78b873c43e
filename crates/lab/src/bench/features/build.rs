//! Building a graph that is larger than the memory it is built with, and finding its components.

use std::path::Path;
use std::sync::mpsc::sync_channel;

use mattock_env::{Env, cpu_seconds, peak_resident_bytes, thread_cpu_seconds};
use mattock_features::{BuildOptions, Builder, Counts, Direction, Features, Grain, Stage};
use mattock_graph::{Csr, strong_components};
use mattock_weburl::WebUrl;

use super::made::{LINKS_PER_PAGE, Sites};
use super::speed::timed;
use super::{FeaturesBenchError, FeaturesBenchOptions, Result};

/// Pages that are handed over at once.
const BATCH: u64 = 1000;
/// Bytes that a link takes on the disk while it is sorted, at worst: twice as fingerprints, or as ids.
const SCRATCH_BYTES: u64 = 48;

pub(super) struct Built {
    pub(super) counts: Counts,
    /// CPU seconds of the build, without making up pages.
    pub(super) cpu_seconds: f64,
    /// On the wall, while pages are made up beside it.
    pub(super) wall_seconds: f64,
    pub(super) peak_resident_bytes: u64,
    pub(super) bits: [f64; 2],
    pub(super) bytes_per_url: f64,
    /// CPU seconds from the compressed graph to its components.
    pub(super) scc_seconds: f64,
}

/// Whether the disk has room for it.
pub(super) fn check_room(env: &Env, dir: &Path, options: &FeaturesBenchOptions) -> Result<()> {
    let place = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let io = |source| FeaturesBenchError::Io { path: place.into(), source };
    let (free, needed) = (env.files.free_bytes(place).map_err(io)?, options.links * SCRATCH_BYTES);
    match free < needed {
        true => Err(FeaturesBenchError::Room { path: place.into(), free, needed, links: options.links }),
        false => Ok(()),
    }
}

pub(super) fn measure(
    env: &Env,
    dir: &Path,
    options: &FeaturesBenchOptions,
    talk: &mut impl FnMut(&str),
) -> Result<Built> {
    let sites = Sites::new((options.links / LINKS_PER_PAGE).max(1));
    let (begun, cpu_begun) = (env.clock.now(), cpu_seconds().unwrap_or_default());
    let (counts, making) = build(env, dir, options, &sites, talk)?;
    let cpu = cpu_seconds().unwrap_or_default() - cpu_begun - making;
    let wall_seconds = env.clock.now().since(begun).as_secs_f64();
    let peak_resident_bytes = peak_resident_bytes().unwrap_or_default();
    talk("its components");
    let features = Features::open(&env.files, dir)?;
    let [out_links, in_links] =
        [Direction::Out, Direction::In].map(|direction| features.links(Grain::Pages, direction));
    let bits = [out_links?.bits_per_link(), in_links?.bits_per_link()];
    let urls = features.urls()?;
    let links = features.links(Grain::Pages, Direction::Out)?;
    let (components, scc_seconds) = timed(|| strong_components(&Csr::load(&links)));
    talk(&format!("{} components, in {scc_seconds:.1} s", components.sizes().len()));
    Ok(Built {
        counts,
        cpu_seconds: cpu,
        wall_seconds,
        peak_resident_bytes,
        bits,
        bytes_per_url: urls.bytes() as f64 / urls.len().max(1) as f64,
        scc_seconds,
    })
}

/// Builds; what is in it, and the CPU seconds that making up pages took, which a thread of its own does.
fn build(
    env: &Env,
    dir: &Path,
    options: &FeaturesBenchOptions,
    sites: &Sites,
    talk: &mut impl FnMut(&str),
) -> Result<(Counts, f64)> {
    let mut stage = None;
    let mut report = |progress: mattock_features::Progress| {
        if stage.replace(progress.stage) != Some(progress.stage) {
            talk(told(progress.stage));
        }
    };
    let mut builder = Builder::begin(
        &env.files,
        dir,
        &BuildOptions { memory: options.memory, ..BuildOptions::default() },
        &mut report,
    )?;
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<(WebUrl, Vec<WebUrl>)>>(4);
        let maker = scope.spawn(move || {
            let begun = thread_cpu_seconds();
            for first in (0..sites.pages()).step_by(BATCH as usize) {
                let numbers = first..(first + BATCH).min(sites.pages());
                // Whoever builds has given up, and says why.
                if sender.send(numbers.map(|number| sites.page(number)).collect()).is_err() {
                    break;
                }
            }
            thread_cpu_seconds() - begun
        });
        for (url, links) in receiver.into_iter().flatten() {
            builder.page(&url, &links)?;
        }
        let making = maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((builder.finish()?, making))
    })
}

fn told(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "  reading pages",
        Stage::Urls => "  giving ids to URLs",
        Stage::Joining => "  giving ids to links",
        Stage::OutLinks => "  coding outlinks",
        Stage::InLinks => "  coding inlinks",
        Stage::Hosts => "  hosts and domains",
        Stage::Contents => "  terms and sketches",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_is_made_up_is_built() {
        let env = Env::real();
        let number = env.random.fork("test").next_u64();
        let dir = std::env::temp_dir().join(format!("mattock-lab-features-{number:016x}"));
        let options = FeaturesBenchOptions { links: 60_000, memory: 1 << 20, data: PathBuf::new() };
        let mut said = Vec::new();
        let built = measure(&env, &dir, &options, &mut |text: &str| said.push(text.to_owned()));
        env.files.remove_dir_all(&dir).unwrap();
        let Built { counts, bits, bytes_per_url, .. } = built.unwrap();
        assert_eq!(counts.crawled, 3000);
        assert!((57_000..63_000).contains(&counts.links_given), "{counts:?}");
        assert!(counts.links < counts.links_given && counts.links > counts.links_given * 3 / 4, "{counts:?}");
        // One link in twenty leads to something that was not crawled.
        assert!(counts.urls > 4000 && counts.urls < 6500 && counts.collisions == 0, "{counts:?}");
        assert!(bits.iter().all(|bits| (2.0..14.0).contains(bits)), "{bits:?}");
        assert!(bytes_per_url < 14.0, "{bytes_per_url}");
        for stage in ["  giving ids to URLs", "  coding inlinks", "its components"] {
            assert!(said.iter().any(|text| text == stage), "{stage}: {said:?}");
        }
    }

    #[test]
    fn a_disk_that_is_too_small_is_noticed_at_once() {
        let options = FeaturesBenchOptions { links: 1 << 50, memory: 1 << 20, data: PathBuf::new() };
        let error = check_room(&Env::real(), Path::new("x"), &options).unwrap_err();
        assert!(error.to_string().contains("fewer --links"), "{error}");
    }
}
