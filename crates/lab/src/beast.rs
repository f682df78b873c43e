//! `mattock lab beast`: what it costs to keep budgets, as the crawl grows (IRLbot, theorems 4 and 5).
//!
//! A crawl without a network: every page that is popped brings new URLs of random domains, each of which always has more than its
//! budget. [`run`] drives BEAST and the two queues it replaced through the same crawl, on disk, and [`BeastReport`] sets what both
//! read and wrote per page beside what the paper's theorems say.

use std::path::Path;

use mattock_env::{Env, Random};
use mattock_frontier::beast::{Beast, BeastOptions, BeastStats, NaiveQueue, Popped};
use mattock_plot::chart::{Axis, LogLogChart, Series};
use mattock_plot::format;
use mattock_queue::{Options, QueueError, Queues};

/// The crawl to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BeastCrawl {
    /// Domains: V.
    pub domains: u64,
    /// The budget of each: B.
    pub budget: u32,
    /// New URLs per page, in halves: 2L. IRLbot had 6.5 per page.
    pub links_halves: u64,
    /// Bytes of a URL with its depth and the like.
    pub record_bytes: usize,
    /// Rounds of BEAST; each is twice as long as the one before.
    pub rounds: u32,
    /// Up to the end of which of these rounds the two queues are driven: their work grows with the square.
    pub naive_rounds: u32,
    /// RAM for the queues.
    pub memory_bytes: usize,
    /// Of the random links.
    pub seed: u64,
}

impl Default for BeastCrawl {
    /// From 1,000 to 255,000 pages; the two queues up to 63,000.
    fn default() -> BeastCrawl {
        BeastCrawl {
            domains: 250,
            budget: 4,
            links_halves: 13,
            record_bytes: 102,
            rounds: 8,
            naive_rounds: 6,
            memory_bytes: 4 << 20,
            seed: 5,
        }
    }
}

/// One stretch of a crawl: a round of BEAST, or a pass of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stretch {
    /// Pages of the crawl at its end: N.
    pub pages: u64,
    /// Queues: j; 1 for the two queues.
    pub queues: u64,
    /// Bytes of records read and written per page of the stretch: the paper's λ/S.
    pub bytes_per_page: f64,
    /// What the theorem says.
    pub theorem: f64,
    /// Bytes read from and written to files per page: less while much fits into RAM.
    pub disk_bytes_per_page: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BeastReport {
    /// The crawl.
    pub crawl: BeastCrawl,
    /// Rounds of BEAST.
    pub beast: Vec<Stretch>,
    /// Passes of the two queues, those near the ends of BEAST's rounds.
    pub naive: Vec<Stretch>,
    /// 2b(2L − 1): what BEAST never exceeds.
    pub bound: f64,
    /// From the second round of BEAST to the last.
    pub beast_growth: Growth,
    /// The same for the two queues.
    pub naive_growth: Growth,
}

/// From one stretch to another: how many times more.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Growth {
    /// Pages of the crawl.
    pub pages: f64,
    /// Bytes of records per page.
    pub bytes_per_page: f64,
}

impl Growth {
    /// From the second stretch on: the first begins with nothing to look at.
    fn of(stretches: &[Stretch]) -> Growth {
        match stretches {
            [_, second, .., last] => Growth {
                pages: last.pages as f64 / second.pages as f64,
                bytes_per_page: last.bytes_per_page / second.bytes_per_page,
            },
            _ => Growth { pages: 1.0, bytes_per_page: 1.0 },
        }
    }
}

/// The links of pages.
struct Web {
    crawl: BeastCrawl,
    random: Random,
    pages: u64,
    record: Vec<u8>,
}

impl Web {
    fn new(crawl: BeastCrawl) -> Web {
        let record = vec![b'u'; crawl.record_bytes];
        Web { crawl, random: Random::from_seed(crawl.seed), pages: 0, record }
    }

    /// One queue full of seeds, so that theory and practice begin alike.
    fn seeds(
        &mut self,
        mut push: impl FnMut(u64, &[u8]) -> Result<(), QueueError>,
    ) -> Result<(), QueueError> {
        let seeds = self.crawl.domains * u64::from(self.crawl.budget);
        (0..seeds).try_for_each(|seed| push(seed % self.crawl.domains, &self.record))
    }

    fn links(
        &mut self,
        pages: u64,
        mut push: impl FnMut(u64, &[u8]) -> Result<(), QueueError>,
    ) -> Result<(), QueueError> {
        let halves = self.crawl.links_halves;
        let links = (self.pages + pages) * halves / 2 - self.pages * halves / 2;
        self.pages += pages;
        (0..links).try_for_each(|_| push(self.random.below(self.crawl.domains), &self.record))
    }
}

/// Makes the crawl twice, with queues in `dir`. Whoever calls removes them.
pub fn run(env: &Env, dir: &Path, crawl: BeastCrawl) -> Result<BeastReport, QueueError> {
    let beast = run_beast(&open(env, &dir.join("beast"), crawl)?, crawl)?;
    let naive = run_naive(&open(env, &dir.join("naive"), crawl)?, crawl)?;
    Ok(BeastReport {
        crawl,
        bound: 2.0 * bytes(crawl) * (2.0 * links(crawl) - 1.0),
        beast_growth: Growth::of(&beast),
        naive_growth: Growth::of(&naive),
        beast,
        naive,
    })
}

fn open(env: &Env, dir: &Path, crawl: BeastCrawl) -> Result<Queues, QueueError> {
    // As before the first checkpoint: whatever an earlier run left is forgotten.
    Queues::open_at(env, dir, &Options::new(crawl.memory_bytes), Some(0))
}

/// b, with the domain that goes with a record in QF.
fn bytes(crawl: BeastCrawl) -> f64 {
    (crawl.record_bytes + 8) as f64
}

/// L.
fn links(crawl: BeastCrawl) -> f64 {
    crawl.links_halves as f64 / 2.0
}

/// α: passes that so many pages are.
fn alpha(crawl: BeastCrawl, pages: u64) -> f64 {
    (pages as f64 / (crawl.domains * u64::from(crawl.budget)) as f64).max(1.0)
}

/// Bytes between two moments. A round writes what its rescan puts back and reads what the next one looks at, so the two are taken at
/// different times.
#[derive(Default)]
struct Meter {
    pages: u64,
    written: u64,
    read: u64,
    disk: u64,
}

impl Meter {
    fn stretch(
        &mut self,
        queues: &Queues,
        (before, after): (BeastStats, BeastStats),
        width: u64,
        theorem: f64,
    ) -> Stretch {
        let disk = queues.stats().read_bytes + queues.stats().written_bytes;
        let pages = (before.popped - self.pages).max(1) as f64;
        let moved = before.written_bytes - self.written + after.read_bytes - self.read;
        let stretch = Stretch {
            pages: before.popped,
            queues: width,
            bytes_per_page: moved as f64 / pages,
            theorem,
            disk_bytes_per_page: (disk - self.disk) as f64 / pages,
        };
        *self = Meter { pages: before.popped, written: before.written_bytes, read: after.read_bytes, disk };
        stretch
    }
}

fn run_beast(queues: &Queues, crawl: BeastCrawl) -> Result<Vec<Stretch>, QueueError> {
    let mut beast = Beast::new(queues, "beast", BeastOptions::default());
    let mut web = Web::new(crawl);
    web.seeds(|domain, record| beast.push(domain, crawl.budget, record))?;
    let mut meter = Meter { written: beast.stats().written_bytes, ..Meter::default() };
    let mut rounds = Vec::new();
    while rounds.len() < crawl.rounds as usize {
        let before = beast.stats();
        let mut pages = 0;
        let popped = beast.pop::<QueueError>(100, |_| {
            pages += 1;
            Ok(())
        })?;
        if popped == Popped::None {
            break;
        }
        if beast.is_rescanning() {
            // The round was over before this pop, which has read from the next one already.
            let read_early = beast.stats().read_bytes - before.read_bytes;
            beast.rescan::<QueueError>(u64::MAX, |_, _| Ok(Some(crawl.budget)))?;
            let mut after = beast.stats();
            after.read_bytes -= read_early;
            let alpha = alpha(crawl, before.popped);
            let theorem = 2.0 * bytes(crawl) * (2.0 * alpha / (1.0 + alpha) * (links(crawl) - 1.0) + 1.0);
            rounds.push(meter.stretch(queues, (before, after), beast.width() / 2, theorem));
        }
        web.links(pages, |domain, record| beast.push(domain, crawl.budget, record))?;
    }
    Ok(rounds)
}

fn run_naive(queues: &Queues, crawl: BeastCrawl) -> Result<Vec<Stretch>, QueueError> {
    let mut naive = NaiveQueue::new(queues, "naive");
    let mut web = Web::new(crawl);
    web.seeds(|domain, record| naive.push(domain, crawl.budget, record))?;
    let mut meter = Meter { written: naive.stats().written_bytes, ..Meter::default() };
    let (mut passes, mut next) = (Vec::new(), 1.0);
    while passes.len() < crawl.naive_rounds as usize {
        let pages = naive.pop(u64::MAX, |_| crawl.budget, |_| ())?;
        if pages == 0 {
            break;
        }
        web.links(pages, |domain, record| naive.push(domain, crawl.budget, record))?;
        let stats = naive.stats();
        let alpha = alpha(crawl, stats.popped);
        let pass =
            meter.stretch(queues, (stats, stats), 1, 2.0 * bytes(crawl) * (links(crawl) - 1.0) * alpha);
        // Where BEAST's rounds end: after 1, 3, 7, … passes.
        if alpha + 0.5 >= next {
            passes.push(pass);
            next = next * 2.0 + 1.0;
        }
    }
    Ok(passes)
}

impl BeastReport {
    /// Bytes per page against the crawl's size, measured and as the theorems say.
    pub fn chart(&self) -> LogLogChart {
        let points = |of: &[Stretch], value: fn(&Stretch) -> f64| -> Vec<(f64, f64)> {
            of.iter().map(|stretch| (stretch.pages as f64, value(stretch))).collect()
        };
        LogLogChart {
            title: "What budgets cost as the crawl grows".into(),
            reading:
                "Two queues cost ever more per page; BEAST stays below its bound however large the crawl."
                    .into(),
            x: Axis::number("pages crawled"),
            y: Axis::bytes("read and written per page"),
            series: vec![
                Series::new("BEAST", points(&self.beast, |stretch| stretch.bytes_per_page)),
                Series::new("theorem 5", points(&self.beast, |stretch| stretch.theorem)),
                Series::new("its bound", self.beast.iter().map(|stretch| (stretch.pages as f64, self.bound))),
                Series::new("two queues", points(&self.naive, |stretch| stretch.bytes_per_page)),
                Series::new("theorem 4", points(&self.naive, |stretch| stretch.theorem)),
            ],
            ..LogLogChart::default()
        }
    }

    /// A page about it; `chart` is where the drawing is.
    pub fn markdown(&self, chart: &str) -> String {
        let crawl = &self.crawl;
        let mut page = format!(
            "# BEAST: what budgets cost as the crawl grows\n\n\
             Every domain may have its budget of pages per pass; the URLs beyond it wait in a queue QF that has to be looked at again and \
             again. IRLbot's first way, reading all of QF after every pass, costs more per page the larger the crawl is (theorem 4). \
             BEAST looks at QF after 1, 2, 4, 8, … passes and spreads it over as many queues: at most 2b(2L − 1) bytes per page, whatever \
             the size (theorem 5).\n\n\
             A crawl without a network: {} domains with a budget of {} pages each, {} new URLs of {} bytes per page, queues on disk \
             with {} of RAM.\n\n\
             ![Bytes read and written per page against pages crawled]({chart})\n\n\
             While the crawl grows by {:.0} ×, BEAST's cost per page grows by {:.2} ×; while it grows by {:.0} ×, that of the two queues \
             grows by {:.0} ×.\n\n",
            format::integer(crawl.domains),
            crawl.budget,
            links(*crawl),
            crawl.record_bytes,
            format::bytes(crawl.memory_bytes as f64),
            self.beast_growth.pages,
            self.beast_growth.bytes_per_page,
            self.naive_growth.pages,
            self.naive_growth.bytes_per_page,
        );
        page.push_str(&format!("## BEAST\n\nNever more than {} per page.\n\n", format::bytes(self.bound)));
        table(&mut page, &self.beast, "theorem 5");
        page.push_str("\n## Two queues\n\n");
        table(&mut page, &self.naive, "theorem 4");
        page.push_str(
            "\nBytes are those of records. What reaches the disk is less while queues fit into RAM, and more when there are \
             many, whose blocks are small and end at full pages.\n",
        );
        page
    }
}

fn table(page: &mut String, stretches: &[Stretch], theorem: &str) {
    page.push_str(&format!(
        "| pages | queues | bytes per page | {theorem} | on disk |\n|--:|--:|--:|--:|--:|\n"
    ));
    for stretch in stretches {
        page.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            format::integer(stretch.pages),
            stretch.queues,
            format::integer(stretch.bytes_per_page.round() as u64),
            format::integer(stretch.theorem.round() as u64),
            format::integer(stretch.disk_bytes_per_page.round() as u64),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;

    fn report() -> BeastReport {
        let crawl =
            BeastCrawl { domains: 25, memory_bytes: 200_000, naive_rounds: 5, ..BeastCrawl::default() };
        Simulation::new(1).run(|env| async move { run(&env, Path::new("/lab"), crawl).unwrap() })
    }

    #[test]
    fn beast_stays_flat_while_two_queues_grow() {
        let report = report();
        let rounds: Vec<_> = report.beast.iter().map(|round| (round.queues, round.pages)).collect();
        // Equation (11), to the page.
        assert_eq!(rounds, [1, 2, 4, 8, 16, 32, 64, 128].map(|queues| (queues, 100 * (2 * queues - 1))));
        let Growth { pages, bytes_per_page } = report.beast_growth;
        assert!(pages > 64.0 && bytes_per_page < 1.3, "{report:?}");
        let Growth { pages, bytes_per_page } = report.naive_growth;
        assert!(bytes_per_page > 0.8 * pages, "{report:?}");
        for round in &report.beast[1..] {
            assert!((0.9..1.1).contains(&(round.bytes_per_page / round.theorem)), "{round:?}");
            assert!(round.bytes_per_page <= report.bound, "{round:?} over {}", report.bound);
        }
        for pass in &report.naive[2..] {
            assert!((0.8..1.4).contains(&(pass.bytes_per_page / pass.theorem)), "{pass:?}");
        }
        assert_eq!(report, super::tests::report(), "the same again");
    }

    #[test]
    fn the_page_says_what_was_found() {
        let report = report();
        let page = report.markdown("beast.svg");
        assert!(
            page.contains("](beast.svg)") && page.lines().filter(|line| line.starts_with("| ")).count() > 10
        );
        let chart = report.chart().render();
        assert!(
            ["BEAST", "theorem 5", "two queues", "theorem 4"]
                .iter()
                .all(|name| chart.standalone().contains(name))
        );
    }
}
