//! The bow-tie as a picture, with the sizes in it.

use mattock_plot::chart::BowtieChart;

use crate::bowtie::{Bowtie, PARTS};

/// The chart of a bow-tie; `what` its nodes are: "pages".
pub fn bowtie_chart(bowtie: &Bowtie, title: &str, what: &str) -> BowtieChart {
    BowtieChart {
        title: title.into(),
        what: what.into(),
        sizes: PARTS.map(|part| bowtie.size(part)),
        ..BowtieChart::default()
    }
}

/// Draws a bow-tie as an SVG file that needs nothing else.
pub fn bowtie_svg(bowtie: &Bowtie, title: &str) -> String {
    let title = format!("{title}: {} nodes", mattock_plot::format::integer(bowtie.nodes()));
    bowtie_chart(bowtie, &title, "nodes").render().standalone().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, bowtie, strong_components};

    #[test]
    fn the_sizes_are_in_the_picture() {
        let graph = Csr::from_lists(&[vec![1], vec![0, 2], vec![], vec![0], vec![]]);
        let bowtie = bowtie(&graph, &graph.transposed(), &strong_components(&graph));
        let svg = bowtie_svg(&bowtie, "a < b");
        mattock_plot::markup::check(&svg);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b: 5 nodes"));
        for part in [
            "core: 2 nodes (40.0 %)",
            "in: 1 nodes (20.0 %)",
            "out: 1 nodes (20.0 %)",
            "disconnected: 1 (20.0 %)",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }
}
