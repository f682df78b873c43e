//! What a [`StarReport`] looks like: two charts, a page, a table.

use std::fmt;

use mattock_plot::chart::{Axis, LineChart, LogLogChart, Series};
use mattock_plot::format;

use super::{DegreeClass, Spent, StarReport};

impl StarReport {
    /// Share of requests that went to farms, as the crawl goes on.
    pub fn share_chart(&self) -> LineChart {
        let points = |spent: &Spent| -> Vec<(f64, f64)> {
            spent.course.iter().map(|&(requests, share)| (requests as f64, share * 100.0)).collect()
        };
        LineChart {
            title: "What a crawl spends on spam".into(),
            reading: "Breadth-first drowns in farms; budgets by reputation keep the crawl out of them."
                .into(),
            x: Axis::number("requests so far"),
            y: Axis::number("% of them to farms"),
            series: self.budgets.iter().map(|spent| Series::new(&spent.budget, points(spent))).collect(),
        }
    }

    /// Pages per domain against in-degree: figure 6(b).
    pub fn degree_chart(&self) -> LogLogChart {
        let points = |spent: &Spent| -> Vec<(f64, f64)> {
            spent.degrees.iter().map(|class| (class.degree as f64, class.pages_per_domain)).collect()
        };
        LogLogChart {
            title: "Pages per domain by how many link to it".into(),
            reading: "With budgets by reputation, who is linked to by few gets next to nothing.".into(),
            x: Axis::number("domains that link to it, at least"),
            y: Axis::number("pages fetched per domain"),
            series: self.budgets.iter().map(|spent| Series::new(&spent.budget, points(spent))).collect(),
            ..LogLogChart::default()
        }
    }

    /// A page about it; the charts are beside it as `star-share.svg` and `star-degree.svg`.
    pub fn markdown(&self) -> String {
        let crawl = &self.crawl;
        let mut page = format!(
            "# STAR: what a crawl spends on spam\n\n\
             A farm has any number of pages on any number of hosts, all linking to one another. Whoever follows links in the order in \
             which they were found is soon busy with nothing else, all the more as hosts that are worth visiting have to be left alone \
             between two requests while every link of a farm leads to a host that was never visited. IRLbot's STAR gives each domain a \
             budget by how many other domains link to it.\n\n\
             The simulated Web `spam` (seed {}): {} honest pages on {} hosts, {} domains of farms without end. Each crawl stops after {} \
             pages, {} of the honest ones. {} connections, {} s between two requests to a host (a quarter of that where budgets are large), \
             {} ms to connect; virtual time.\n\n\
             | budget | requests | to farms | | pages | of farms | | domains | of farms | time |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
            crawl.seed,
            format::integer(self.honest_pages),
            self.honest_hosts,
            format::integer(self.farm_domains),
            format::integer(self.page_limit),
            percent(crawl.share),
            crawl.connections,
            crawl.delay_s,
            crawl.round_trip_ms,
        );
        for spent in &self.budgets {
            page.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                spent.budget,
                format::integer(spent.requests.all),
                format::integer(spent.requests.farms),
                percent(spent.requests.farm_share()),
                format::integer(spent.pages.all),
                format::integer(spent.pages.farms),
                percent(spent.pages.farm_share()),
                format::integer(spent.domains.all),
                format::integer(spent.domains.farms),
                format::duration(spent.seconds),
            ));
        }
        page.push_str(
            "\nRequests count everything that was asked for, robots.txt too: that is what a farm's new host costs before its first page.\n\n\
             ![Share of requests to farms as the crawl goes on](star-share.svg)\n\n\
             ![Pages per domain by in-degree](star-degree.svg)\n\n\
             The second chart is that of IRLbot's figure 6(b). In-degrees are those that the crawl has seen by its end; the average is over \
             all domains that it knows, visited or not.\n",
        );
        for spent in &self.budgets {
            page.push_str(&format!("\n## {}\n\n", spent.budget));
            page.push_str("| in-degree | domains | of farms | pages per domain |\n|--:|--:|--:|--:|\n");
            spent.degrees.iter().for_each(|class| page.push_str(&row(class)));
        }
        page
    }
}

fn row(class: &DegreeClass) -> String {
    let degrees = match class.degree {
        1 => "1".to_owned(),
        degree => format!("{degree} to {}", 2 * degree - 1),
    };
    format!(
        "| {degrees} | {} | {} | {:.3} |\n",
        format::integer(class.domains.all),
        format::integer(class.domains.farms),
        class.pages_per_domain
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl fmt::Display for StarReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "budget       requests  to farms             pages  of farms")?;
        for spent in &self.budgets {
            write!(
                out,
                "\n{:<12} {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
                spent.budget,
                spent.requests.all,
                spent.requests.farms,
                percent(spent.requests.farm_share()),
                spent.pages.all,
                spent.pages.farms,
                percent(spent.pages.farm_share()),
            )?;
        }
        Ok(())
    }
}
