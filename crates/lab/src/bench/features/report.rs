//! What came of it.

use std::fmt;

use serde::Serialize;

use super::FeaturesBenchOptions;
use super::build::Built;
use super::cnr::Cnr;
use super::speed::Speed;

/// The links of *Web Archaeology*'s graph.
const SIX_BILLION: f64 = 6e9;

/// What `mattock bench features` has to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeaturesBenchReport {
    /// Bits of a link of cnr-2000 in the order of URLs.
    pub bits_per_link_out: f64,
    /// The same for inlinks.
    pub bits_per_link_in: f64,
    /// After reordering.
    pub bits_per_link_out_reordered: f64,
    /// The same for inlinks.
    pub bits_per_link_in_reordered: f64,
    /// What WebGraph's compressor makes of the same graph in the order of URLs.
    pub webgraph_bits_per_link_out: f64,
    /// The same for inlinks.
    pub webgraph_bits_per_link_in: f64,
    /// Bytes of a URL of a real site.
    pub bytes_per_url: f64,
    /// Nanoseconds for one list of cnr-2000, drawn at random.
    pub random_access_ns: f64,
    /// CPU time from the compressed graph to the strongly connected components, ours over WebGraph's.
    pub ratio_scc_to_webgraph: f64,
    /// The same if both have lists.
    pub ratio_scc_to_webgraph_lists: f64,
    /// The time of a round of PageRank, ours (on lists) over WebGraph's (on the compressed graph).
    pub ratio_pagerank_to_webgraph: f64,
    /// The same if both have lists.
    pub ratio_pagerank_to_webgraph_lists: f64,
    /// The CPU time of a round, ours (on lists) over WebGraph's (on the compressed graph).
    pub ratio_pagerank_to_webgraph_cpu: f64,
    /// The time from the compressed graph to ranks of the same precision, making lists included: their rounds do more.
    pub ratio_pagerank_to_webgraph_whole: f64,
    /// CPU seconds of ours for the components of cnr-2000.
    pub scc_seconds: f64,
    /// And of WebGraph's.
    pub webgraph_scc_seconds: f64,
    /// Seconds of a round of PageRank.
    pub pagerank_round_seconds: f64,
    /// And of WebGraph's.
    pub webgraph_pagerank_round_seconds: f64,
    /// Rounds until the ranks are within 1e-6.
    pub pagerank_rounds: usize,
    /// And of WebGraph's.
    pub webgraph_pagerank_rounds: usize,
    /// Links that were handed to the build.
    pub links: u64,
    /// Those of them that are different.
    pub links_distinct: u64,
    /// URLs of that build.
    pub urls: u64,
    /// Memory that it was given, in MiB.
    pub memory_mb: u64,
    /// The most that the process had, in MiB.
    pub rss_mb: u64,
    /// Links a CPU second, from pages to all databases; making up the pages is not counted.
    pub links_per_cpu_second: f64,
    /// CPU seconds of the build.
    pub build_cpu_seconds: f64,
    /// And on the wall.
    pub build_seconds: f64,
    /// Bits of a link of that graph.
    pub built_bits_per_link_out: f64,
    /// The same for inlinks.
    pub built_bits_per_link_in: f64,
    /// Bytes of a URL of that graph.
    pub built_bytes_per_url: f64,
    /// CPU seconds for its components, from the compressed graph on.
    pub built_scc_seconds: f64,
    /// What that would be for six billion links.
    pub scc_seconds_per_6e9_links: f64,
}

impl FeaturesBenchReport {
    pub(super) fn new(
        options: &FeaturesBenchOptions,
        cnr: &Cnr,
        bytes_per_url: f64,
        speed: &Speed,
        built: &Built,
    ) -> FeaturesBenchReport {
        let counts = &built.counts;
        FeaturesBenchReport {
            bits_per_link_out: cnr.bits[0],
            bits_per_link_in: cnr.bits[1],
            bits_per_link_out_reordered: cnr.bits_reordered[0],
            bits_per_link_in_reordered: cnr.bits_reordered[1],
            webgraph_bits_per_link_out: cnr.webgraph_bits[0],
            webgraph_bits_per_link_in: cnr.webgraph_bits[1],
            bytes_per_url,
            random_access_ns: cnr.random_access_ns,
            ratio_scc_to_webgraph: speed.scc.ratio,
            ratio_scc_to_webgraph_lists: speed.scc_lists.ratio,
            ratio_pagerank_to_webgraph: speed.rank_round.ratio,
            ratio_pagerank_to_webgraph_lists: speed.rank_round_lists.ratio,
            ratio_pagerank_to_webgraph_cpu: speed.rank_round_cpu.ratio,
            ratio_pagerank_to_webgraph_whole: speed.rank_whole.ratio,
            scc_seconds: speed.scc.ours,
            webgraph_scc_seconds: speed.scc.theirs,
            pagerank_round_seconds: speed.rank_round.ours,
            webgraph_pagerank_round_seconds: speed.rank_round.theirs,
            pagerank_rounds: speed.rank_rounds.0,
            webgraph_pagerank_rounds: speed.rank_rounds.1,
            links: counts.links_given,
            links_distinct: counts.links,
            urls: counts.urls,
            memory_mb: options.memory >> 20,
            rss_mb: built.peak_resident_bytes >> 20,
            links_per_cpu_second: counts.links_given as f64 / built.cpu_seconds,
            build_cpu_seconds: built.cpu_seconds,
            build_seconds: built.wall_seconds,
            built_bits_per_link_out: built.bits[0],
            built_bits_per_link_in: built.bits[1],
            built_bytes_per_url: built.bytes_per_url,
            built_scc_seconds: built.scc_seconds,
            scc_seconds_per_6e9_links: built.scc_seconds * SIX_BILLION / counts.links.max(1) as f64,
        }
    }
}

impl fmt::Display for FeaturesBenchReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(out, "{name:<58} {value:>12}");
        let two = |value: f64| format!("{value:.2}");
        line("cnr-2000: bits of a link, out", two(self.bits_per_link_out))?;
        line("  in", two(self.bits_per_link_in))?;
        line("  WebGraph's compressor, out", two(self.webgraph_bits_per_link_out))?;
        line("  in", two(self.webgraph_bits_per_link_in))?;
        line("  reordered, out", two(self.bits_per_link_out_reordered))?;
        line("  in", two(self.bits_per_link_in_reordered))?;
        line("  a list at random", format!("{:.0} ns", self.random_access_ns))?;
        line("URLs of a site: bytes of one", two(self.bytes_per_url))?;
        line("components: CPU time over WebGraph's", two(self.ratio_scc_to_webgraph))?;
        line("  both on lists", two(self.ratio_scc_to_webgraph_lists))?;
        line("PageRank: time of a round over WebGraph's", two(self.ratio_pagerank_to_webgraph))?;
        line("  both on lists", two(self.ratio_pagerank_to_webgraph_lists))?;
        line("  CPU time", two(self.ratio_pagerank_to_webgraph_cpu))?;
        line("  to the same precision, in all", two(self.ratio_pagerank_to_webgraph_whole))?;
        line("built: links", self.links.to_string())?;
        line("  URLs", self.urls.to_string())?;
        line("  links a CPU second", format!("{:.0}", self.links_per_cpu_second))?;
        line("  on the wall", format!("{:.0} s", self.build_seconds))?;
        line("  peak memory, and what was given", format!("{}, {} MiB", self.rss_mb, self.memory_mb))?;
        line("  bits of a link, out", two(self.built_bits_per_link_out))?;
        line("  in", two(self.built_bits_per_link_in))?;
        line("  bytes of a URL", two(self.built_bytes_per_url))?;
        line("  components", format!("{:.1} s", self.built_scc_seconds))?;
        line("  that would be for six billion links", format!("{:.0} s", self.scc_seconds_per_6e9_links))
    }
}
