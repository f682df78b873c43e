//! Where the main text is: the element whose blocks are worth most together.

use super::blocks::{Block, Page};
use super::classes::BODY;
use super::names::Tag;
use super::tree::Tree;
use super::waste::Waste;

/// A block of links costs so much, and so much for each linked word.
const SCRAP_COST: f32 = 0.5;
const LINK_COST: f32 = 1.0;
/// With so many words a block is text.
const TEXT_WORDS: f32 = 15.0;
/// With so many words, and punctuation, too.
const SENTENCE_WORDS: f32 = 6.0;
/// Linked words in a text take away so much each.
const LINK_WEIGHT: f32 = 2.0;
/// What few words without links cost: in lists and tables nearly nothing, elsewhere more.
const CELL_COST: f32 = 0.1;
const LABEL_COST: f32 = 0.5;
/// What is called the text is believed if it holds this part of the worth.
const NAMED_SHARE: f32 = 0.6;
/// One of several that are called the text is not, if the others hold this part of the worth.
const OTHERS_SHARE: f32 = 0.2;
/// A part whose text is worth less than this for each of its words is not mainly text.
const TEXT_SHARE: f32 = 0.25;

/// What blocks are worth, summed up: entry `i` has all blocks before block `i`.
pub(crate) struct Worth(Vec<f32>);

impl Worth {
    pub(crate) fn new(page: &Page, waste: &Waste, worth: impl Fn(&Block) -> f32) -> Worth {
        let mut sums = Vec::with_capacity(page.blocks.len() + 1);
        let mut sum = 0.0f32;
        sums.push(sum);
        for (at, block) in page.blocks.iter().enumerate() {
            if !waste.has(at) {
                sum += worth(block);
            }
            sums.push(sum);
        }
        Worth(sums)
    }

    /// Of all blocks within a node.
    pub(crate) fn of(&self, page: &Page, node: u32) -> f32 {
        let range = page.range(node);
        self.0[range.end] - self.0[range.start]
    }

    /// The element that is worth most, the innermost of several, and its worth.
    pub(crate) fn greatest(&self, tree: &Tree, page: &Page) -> (u32, f32) {
        let scope = page.scope();
        let mut best = (scope, self.of(page, scope));
        let end = tree.nodes[scope as usize].end;
        for (at, node) in (scope..end).zip(&tree.nodes[scope as usize..]) {
            if !node.tag.is_block()
                || matches!(node.tag, Tag::P | Tag::Heading | Tag::Row | Tag::Rows | Tag::Hidden)
            {
                continue;
            }
            let worth = self.of(page, at);
            if worth >= best.1 {
                best = (at, worth);
            }
        }
        best
    }
}

/// The node that holds the main text; 0, the whole page, if none stands out.
pub(crate) fn find(tree: &Tree, page: &Page, waste: &Waste) -> u32 {
    let worth = Worth::new(page, waste, |block| worth(tree, block));
    let best = worth.greatest(tree, page);
    // Of a part that is lists and links more than text no piece stands for the whole.
    let scope = page.scope();
    if scope != 0 && best.1 < TEXT_SHARE * page.kept_words(scope, waste) as f32 {
        return scope;
    }
    narrow(tree, best, |node| worth.of(page, node))
}

/// What says that it is the text, if it has most of it, and others that say so have little.
fn narrow(tree: &Tree, (place, worth): (u32, f32), worth_of: impl Fn(u32) -> f32) -> u32 {
    let end = tree.nodes[place as usize].end;
    let is_named = |at: u32| {
        let node = tree.nodes[at as usize];
        node.hints & BODY != 0 || matches!(node.tag, Tag::Article | Tag::Main)
    };
    let mut best = (place, 0.0);
    for at in (place..end).filter(|&at| is_named(at)) {
        let own = worth_of(at);
        if own >= NAMED_SHARE * worth && own >= best.1 {
            best = (at, own);
        }
    }
    let best_end = tree.nodes[best.0 as usize].end;
    let (mut others, mut at) = (0.0, place);
    while at < end {
        if at == best.0 {
            at = best_end;
        } else if is_named(at) && !(at < best.0 && best.0 < tree.nodes[at as usize].end) {
            others += worth_of(at).max(0.0);
            at = tree.nodes[at as usize].end;
        } else {
            at += 1;
        }
    }
    if others > OTHERS_SHARE * worth { place } else { best.0 }
}

/// What a block counts for: its words if it is text, less than nothing if it is a scrap or links.
fn worth(tree: &Tree, block: &Block) -> f32 {
    let words = block.words as f32;
    let linked = block.link_words as f32;
    let tag = tree.nodes[block.owner as usize].tag;
    if block.link_density() > 0.5 {
        return if matches!(tag, Tag::P) { -SCRAP_COST } else { -SCRAP_COST - LINK_COST * linked };
    }
    let is_text = words >= TEXT_WORDS
        || (words >= SENTENCE_WORDS && block.marks > 0)
        || matches!(tag, Tag::P | Tag::Pre | Tag::Quote) && words >= 4.0;
    if is_text {
        words - LINK_WEIGHT * linked
    } else if matches!(tag, Tag::Cell | Tag::Item | Tag::Term | Tag::Heading | Tag::Caption) {
        -CELL_COST
    } else {
        -LABEL_COST
    }
}

#[cfg(test)]
mod tests {
    use super::super::main_text;

    const POST: &str = "<p>Whoever writes a post every day, says the proverb, has written many of them by the end of the year.</p>";

    #[test]
    fn the_text_among_several_that_are_called_so() {
        let short = "<div class=entry-content><h2>Second</h2><p>A short one, this time.</p></div>";
        let page = |others: &str| {
            let first = POST.repeat(5);
            format!(
                "<div><div class=entry-content><h2>First</h2>{first}</div>{others}</div><i>End of page</i>"
            )
        };
        // One, and next to nothing besides.
        let alone = main_text(&page(short));
        assert!(alone.starts_with("First") && !alone.contains("short one"), "{alone}");
        // The longest of three.
        let longer = short.replace("</p>", &format!("</p>{POST}"));
        let three = main_text(&page(&longer.repeat(2)));
        assert_eq!(three.matches("short one").count(), 2, "{three}");
    }
}
