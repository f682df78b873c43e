//! Blocks: runs of text that stand together, with what can be counted of them.
//!
//! Filled from the tree; the sums over any element are had in constant time, since the blocks of an element stand one after the other.

use mattock_extract::decode_text;

use super::classes;
use super::names::Tag;
use super::tree::Tree;
use super::waste::Waste;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    /// The innermost block element around it.
    pub(crate) owner: u32,
    /// Its nodes: `first..last`.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) words: u32,
    pub(crate) link_words: u32,
    /// Links that it has words of.
    pub(crate) links: u32,
    /// Signs that end or part sentences.
    pub(crate) marks: u32,
    /// Whether a word has a digit.
    pub(crate) has_number: bool,
    /// Whether it stands, with others, within one link.
    pub(crate) is_card: bool,
}

impl Block {
    /// The part of the words that are links.
    pub(crate) fn link_density(&self) -> f32 {
        density(self.link_words, self.words)
    }

    /// Its words, if it is sentences rather than a label or links.
    fn prose(&self) -> u32 {
        let is_prose = self.words >= 10 && self.marks > 0 && 2 * self.link_words < self.words;
        if is_prose { self.words - self.link_words } else { 0 }
    }
}

pub(crate) fn density(link_words: u32, words: u32) -> f32 {
    if words == 0 { 0.0 } else { link_words as f32 / words as f32 }
}

/// What has fewer words in sentences has no prose.
pub(crate) const PROSE_MIN: u32 = 40;
/// What has a smaller part of its words in sentences is a list that begins with a few.
const PROSE_SHARE: f32 = 0.35;

/// Counts over a run of blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) words: u32,
    pub(crate) link_words: u32,
    pub(crate) marks: u32,
    /// Words of blocks that are sentences rather than labels or links.
    pub(crate) prose: u32,
}

pub(crate) struct Page {
    pub(crate) blocks: Vec<Block>,
    /// For each node the blocks within it.
    ranges: Vec<(u32, u32)>,
    /// Entry `i` has the sums of all blocks before block `i`.
    sums: Vec<Sums>,
    /// The node of which shares are taken: the main part that the page declares, or 0 for all of it.
    scope: u32,
}

impl Page {
    pub(crate) fn new(tree: &Tree, html: &str) -> Page {
        let mut walk = Walk { blocks: Vec::new(), block: Block::default(), breaks: 0, link: 0 };
        let mut ranges = vec![(0, 0); tree.nodes.len()];
        let mut open: Vec<u32> = Vec::new();
        // The block elements that are open, and whether a link was open around them.
        let mut owners: Vec<(u32, bool)> = Vec::new();
        let mut links = 0;
        // The link that was opened last.
        let mut link = 0;
        let mut at = 0;
        while at < tree.nodes.len() {
            while let Some(&inner) =
                open.last().filter(|&&inner| tree.nodes[inner as usize].end as usize <= at)
            {
                open.pop();
                let tag = tree.nodes[inner as usize].tag;
                if tag.is_block() {
                    walk.flush(at as u32);
                    owners.pop();
                }
                links -= u32::from(tag == Tag::A);
                ranges[inner as usize].1 = walk.blocks.len() as u32;
            }
            let node = tree.nodes[at];
            match node.tag {
                Tag::Text => {
                    let raw = &html.as_bytes()[node.from as usize..node.to as usize];
                    walk.text(
                        at as u32,
                        owners.last().copied().unwrap_or((0, false)),
                        raw,
                        (links > 0).then_some(link),
                    );
                }
                Tag::Br => walk.line_break(at as u32),
                tag => {
                    if tag.is_block() {
                        walk.flush(at as u32);
                        owners.push((at as u32, links > 0));
                    } else if node.hints & classes::HIDDEN != 0 {
                        // Inline and not shown: no part of the block around it.
                        ranges[at] = (walk.blocks.len() as u32, walk.blocks.len() as u32);
                        at = node.end as usize;
                        continue;
                    }
                    if tag == Tag::A {
                        links += 1;
                        link = at as u32;
                    }
                    open.push(at as u32);
                }
            }
            ranges[at] = (walk.blocks.len() as u32, walk.blocks.len() as u32);
            at += 1;
        }
        walk.flush(at as u32);
        for inner in open {
            ranges[inner as usize].1 = walk.blocks.len() as u32;
        }
        let mut sum = Sums::default();
        let mut sums = vec![sum];
        for block in &walk.blocks {
            sum.words += block.words;
            sum.link_words += block.link_words;
            sum.marks += block.marks;
            sum.prose += block.prose();
            sums.push(sum);
        }
        Page { blocks: walk.blocks, ranges, sums, scope: 0 }
    }

    /// From now on nothing but this node counts.
    pub(crate) fn look_within(&mut self, node: u32) {
        self.scope = node;
    }

    /// What counts; 0 for the whole page.
    pub(crate) fn scope(&self) -> u32 {
        self.scope
    }

    /// Whether a good part of it is in sentences.
    pub(crate) fn has_prose(&self) -> bool {
        let sums = self.sums(self.scope);
        sums.prose >= PROSE_MIN && sums.prose as f32 >= PROSE_SHARE * sums.words as f32
    }

    /// The blocks within a node.
    pub(crate) fn range(&self, node: u32) -> std::ops::Range<usize> {
        let (from, to) = self.ranges[node as usize];
        from as usize..to as usize
    }

    pub(crate) fn sums(&self, node: u32) -> Sums {
        let range = self.range(node);
        let (from, to) = (self.sums[range.start], self.sums[range.end]);
        Sums {
            words: to.words - from.words,
            link_words: to.link_words - from.link_words,
            marks: to.marks - from.marks,
            prose: to.prose - from.prose,
        }
    }

    /// The part of what counts that is within a node: of its prose, if it has any to speak of, or of its words.
    pub(crate) fn share(&self, node: u32) -> f32 {
        let (all, own) = (self.sums(self.scope), self.sums(node));
        if all.prose >= PROSE_MIN { own.prose as f32 / all.prose as f32 } else { self.share_of_words(node) }
    }

    /// The part of the words of what counts that is within a node.
    pub(crate) fn share_of_words(&self, node: u32) -> f32 {
        self.sums(node).words as f32 / self.words().max(1) as f32
    }

    /// The words of what counts.
    pub(crate) fn words(&self) -> u32 {
        self.sums(self.scope).words
    }

    /// The words within a node that are not waste.
    pub(crate) fn kept_words(&self, node: u32, waste: &Waste) -> u32 {
        self.range(node).filter(|&block| !waste.has(block)).map(|block| self.blocks[block].words).sum()
    }

    /// The words within a node that are in sentences and not waste.
    pub(crate) fn kept_prose(&self, node: u32, waste: &Waste) -> u32 {
        self.range(node).filter(|&block| !waste.has(block)).map(|block| self.blocks[block].prose()).sum()
    }
}

struct Walk {
    blocks: Vec<Block>,
    block: Block,
    /// Line breaks since the last word.
    breaks: u32,
    /// The link that had the last word in a link.
    link: u32,
}

impl Walk {
    fn text(&mut self, at: u32, (owner, is_card): (u32, bool), raw: &[u8], link: Option<u32>) {
        let Counts { words, marks, has_number } = count(raw);
        if words == 0 && marks == 0 {
            return;
        }
        if self.block.words == 0 {
            self.block = Block { owner, is_card, first: at, ..Block::default() };
        }
        self.breaks = 0;
        // Signs without words still make a block of the words around them; alone they make none.
        self.block.words += words;
        if let Some(link) = link.filter(|_| words > 0) {
            self.block.link_words += words;
            self.block.links += u32::from(self.block.links == 0 || link != self.link);
            self.link = link;
        }
        self.block.marks += marks;
        self.block.has_number |= has_number;
    }

    /// Two line breaks are a paragraph.
    fn line_break(&mut self, at: u32) {
        self.breaks += 1;
        if self.breaks == 2 {
            self.flush(at);
        }
    }

    fn flush(&mut self, at: u32) {
        if self.block.words > 0 {
            self.block.last = at;
            self.blocks.push(self.block);
        }
        self.block = Block::default();
        self.breaks = 0;
    }
}

/// What can be counted of a raw text.
struct Counts {
    /// Two characters of a script without blanks are a word.
    words: u32,
    marks: u32,
    has_number: bool,
}

fn count(raw: &[u8]) -> Counts {
    if raw.windows(2).any(|two| two == b"&#") {
        // Whole pages are written in numbers.
        let text = String::from_utf8_lossy(raw);
        return count_plain(decode_text(text).as_bytes());
    }
    count_plain(raw)
}

fn count_plain(raw: &[u8]) -> Counts {
    let (mut words, mut marks, mut unspaced) = (0, 0, 0u32);
    let (mut within, mut has_number) = (false, false);
    for &byte in raw {
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c => within = false,
            b'.' | b',' | b'!' | b'?' | b';' | b':' => marks += 1,
            // Lead bytes of Han and kana; 0xe3 0x80 are their signs.
            0xe3..=0xe9 => {
                unspaced += 1;
                within = true;
            }
            byte if byte.is_ascii_alphanumeric() || byte >= 0xc3 => {
                words += u32::from(!within);
                within = true;
                has_number |= byte.is_ascii_digit();
            }
            _ => {}
        }
    }
    Counts { words: words + unspaced.div_ceil(2), marks: marks + unspaced / 16, has_number }
}
