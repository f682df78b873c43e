//! Writing the text down: decoded, blanks collapsed, a line per block.

use std::borrow::Cow;

use mattock_extract::decode_text;

use super::TEXT_BYTES_MAX;
use super::blocks::{Block, Page};
use super::classes::HIDDEN;
use super::names::Tag;
use super::tree::Tree;
use super::waste::Waste;

/// The text at this place, without waste.
pub(crate) fn text(tree: &Tree, page: &Page, waste: &Waste, place: u32, html: &str) -> String {
    let blocks = page.range(place).filter(|&at| !waste.has(at)).map(|at| &page.blocks[at]);
    lines(tree, blocks.filter(|block| !is_scrap(tree, block)), html)
}

/// The list at this place, without waste.
pub(crate) fn list(tree: &Tree, page: &Page, waste: &Waste, place: u32, html: &str) -> String {
    let blocks = page.range(place).filter(|&at| !waste.has(at)).map(|at| &page.blocks[at]);
    lines(tree, blocks, html)
}

/// All text of the page.
pub(crate) fn everything(tree: &Tree, page: &Page, html: &str) -> String {
    lines(tree, page.blocks.iter(), html)
}

fn lines<'b>(tree: &Tree, blocks: impl Iterator<Item = &'b Block>, html: &str) -> String {
    let mut out = String::new();
    let mut row = None;
    for block in blocks {
        if out.len() >= TEXT_BYTES_MAX {
            break;
        }
        let owner = tree.nodes[block.owner as usize];
        let this_row = (owner.tag == Tag::Cell).then_some(owner.parent);
        if !out.is_empty() {
            out.push(if this_row.is_some() && this_row == row { '\t' } else { '\n' });
        }
        row = this_row;
        write(tree, block, html, &mut out);
    }
    out.truncate(out.floor_char_boundary(TEXT_BYTES_MAX));
    out
}

/// A block within the text that is no part of it: a short one that is a link, rather than one of several within a link.
fn is_scrap(tree: &Tree, block: &Block) -> bool {
    let tag = tree.nodes[block.owner as usize].tag;
    block.link_density() > 0.8
        && !block.is_card
        && !matches!(tag, Tag::Heading | Tag::Cell | Tag::Item | Tag::Caption | Tag::Term)
        && block.words < 20
}

fn write(tree: &Tree, block: &Block, html: &str, out: &mut String) {
    let start = out.len();
    let keep_lines = tree.nodes[block.owner as usize].tag == Tag::Pre;
    let mut at = block.first;
    while at < block.last {
        let node = tree.nodes[at as usize];
        match node.tag {
            Tag::Text => {
                let text = decode_text(Cow::Borrowed(&html[node.from as usize..node.to as usize]));
                push(&text, keep_lines, start, out);
            }
            Tag::Br => push("\n", keep_lines, start, out),
            tag if !tag.is_block() && node.hints & HIDDEN != 0 => {
                at = node.end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    out.truncate(start + out[start..].trim_end().len());
}

const SOFT_HYPHEN: char = '\u{ad}';

/// Appends with blanks collapsed, apart from the lines of preformatted text.
fn push(text: &str, keep_lines: bool, start: usize, out: &mut String) {
    if keep_lines {
        let text = if out.len() == start { text.trim_start_matches(['\n', '\r']) } else { text };
        out.extend(text.chars().filter(|&character| character != '\r' && character != '\0'));
        return;
    }
    if text.contains(SOFT_HYPHEN) {
        // It says where a word may be parted, and parts none.
        return push(&text.replace(SOFT_HYPHEN, ""), keep_lines, start, out);
    }
    let mut blank = out[start..].ends_with(' ') || out.len() == start;
    for part in text.split_inclusive(is_blank) {
        let word = part.trim_end_matches(is_blank);
        out.push_str(word);
        blank &= word.is_empty();
        if word.len() < part.len() && !blank {
            out.push(' ');
            blank = true;
        }
    }
}

fn is_blank(character: char) -> bool {
    character.is_ascii_whitespace() || matches!(character, '\u{a0}' | '\0' | '\u{200b}' | '\u{feff}')
}
