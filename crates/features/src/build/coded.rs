//! From sorted pairs of ids to link files, in both directions; and graphs that are given as numbers from the start.

use std::path::Path;

use mattock_env::Files;

use super::{BuildOptions, Progress, Report, Stage, Steps, names_of};
use crate::error::{FeaturesError, Result};
use crate::features::Grain;
use crate::generation::{Counts, Manifest, Site};
use crate::links::{LinkFiles, LinkWriter};
use crate::sort::Scratch;
use crate::sort::pairs::{PairSorter, SortedPairs};

pub(super) struct Coder<'a> {
    pub(super) site: &'a Site,
    pub(super) scratch: &'a Scratch,
    /// For one sorter.
    pub(super) memory: u64,
}

impl Coder<'_> {
    /// Writes outlinks and inlinks of (source, target) pairs. `see` is told of each, once and in order.
    pub(super) fn both_directions(
        &self,
        grain: Grain,
        nodes: u64,
        links: SortedPairs,
        report: &mut dyn FnMut(Progress),
        mut see: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<(LinkFiles, LinkFiles)> {
        let [out_name, in_name] = names_of(grain);
        let [out_stage, in_stage] = match grain {
            Grain::Pages => [Stage::OutLinks, Stage::InLinks],
            Grain::Hosts | Grain::Domains => [Stage::Hosts; 2],
        };
        let mut turned = PairSorter::new(self.scratch, "turned", self.memory);
        let mut writer = LinkWriter::create(&self.site.files, &self.site.dir.join(out_name), nodes)?;
        let total = links.len();
        let mut steps = Steps::new(report, out_stage, Some(total));
        let (mut stream, mut last) = (links.stream()?, None);
        while let Some((source, target)) = stream.next()? {
            if last.replace((source, target)) != Some((source, target)) {
                writer.push(source, target)?;
                turned.push((target, source))?;
                see(source, target)?;
            }
            steps.step();
        }
        let out_links = writer.finish()?;
        drop(stream);
        drop(links);
        let turned = turned.finish()?;
        let mut writer = LinkWriter::create(&self.site.files, &self.site.dir.join(in_name), nodes)?;
        let mut steps = Steps::new(report, in_stage, Some(out_links.arcs));
        let mut stream = turned.stream()?;
        while let Some((target, source)) = stream.next()? {
            writer.push(target, source)?;
            steps.step();
        }
        Ok((out_links, writer.finish()?))
    }
}

/// Builds a generation of a graph whose nodes are numbers, and have no URLs.
///
/// There are `nodes` nodes, or as many as the greatest number says.
pub fn build_from_ids(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    nodes: Option<u64>,
    links: impl IntoIterator<Item = Result<(u64, u64)>>,
    report: Report<'_>,
) -> Result<Counts> {
    let site = Site::begin(files, dir)?;
    let scratch = Scratch::new(files, &site.scratch);
    let mut sorter = PairSorter::new(&scratch, "pairs", options.memory / 2);
    let mut counts = Counts::default();
    let mut steps = Steps::new(report, Stage::Reading, None);
    for link in links {
        let (source, target) = link?;
        counts.urls = counts.urls.max(source.max(target).saturating_add(1));
        counts.links_given += 1;
        sorter.push((source, target))?;
        steps.step();
    }
    if let Some(nodes) = nodes {
        if nodes < counts.urls {
            let what = format!("node {} in a graph of {nodes} nodes", counts.urls - 1);
            return Err(FeaturesError::Input { name: "the links".into(), line: counts.links_given, what });
        }
        counts.urls = nodes;
    }
    counts.crawled = counts.urls;
    let coder = Coder { site: &site, scratch: &scratch, memory: options.memory / 2 };
    let (out_links, in_links) =
        coder.both_directions(Grain::Pages, counts.urls, sorter.finish()?, report, |_, _| Ok(()))?;
    counts.links = out_links.arcs;
    let origin = options.origin.clone();
    let manifest = Manifest::new(site.generation, counts.clone(), origin, out_links, in_links);
    site.switch_to(&manifest)?;
    Ok(counts)
}
