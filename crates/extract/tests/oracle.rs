//! The oracle: html5ever's tree builder with scripting off, over a sink that remembers elements and forgets the tree.
//! What counts as a link is written here a second time, from the element's side.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, ns, parse_document};
use mattock_extract::LinkKind;

/// What one page links to.
pub(crate) type Links = BTreeSet<(LinkKind, String)>;

/// Names are leaked: the sink hands out references, and a test process is short.
#[derive(Default)]
struct Sink {
    elements: RefCell<Vec<(Option<&'static QualName>, Vec<Attribute>)>>,
}

impl Sink {
    fn push(&self, name: Option<QualName>, attributes: Vec<Attribute>) -> usize {
        let mut elements = self.elements.borrow_mut();
        elements.push((name.map(|name| &*Box::leak(Box::new(name))), attributes));
        elements.len()
    }
}

impl TreeSink for Sink {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }
    fn get_document(&self) -> usize {
        0
    }
    fn get_template_contents(&self, _: &usize) -> usize {
        self.push(None, Vec::new())
    }
    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }
    fn elem_name(&self, target: &usize) -> ExpandedName<'_> {
        self.elements.borrow()[target - 1].0.expect("an element").expanded()
    }
    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> usize {
        self.push(Some(name), attributes)
    }
    fn create_comment(&self, _: StrTendril) -> usize {
        self.push(None, Vec::new())
    }
    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.push(None, Vec::new())
    }
    fn append_before_sibling(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_based_on_parent_node(&self, _: &usize, _: &usize, _: NodeOrText<usize>) {}
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn add_attrs_if_missing(&self, _: &usize, _: Vec<Attribute>) {}
    fn remove_from_parent(&self, _: &usize) {}
    fn reparent_children(&self, _: &usize, _: &usize) {}
    fn mark_script_already_started(&self, _: &usize) {}
}

/// The links of a page by the full parser.
pub(crate) fn links(html: &str) -> Links {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..Default::default() },
        ..Default::default()
    };
    let sink = parse_document(Sink::default(), options).one(html);
    let mut links = Links::new();
    let mut based = false;
    for (name, attributes) in sink.elements.into_inner() {
        let Some(name) = name else { continue };
        let get = |wanted: &str| {
            attributes
                .iter()
                .find(|attribute| &*attribute.name.local == wanted)
                .map(|attribute| &*attribute.value)
        };
        let foreign = name.ns != ns!(html);
        let mut add = |kind, value: Option<&str>| {
            let Some(value) = value else { return };
            let target: String =
                value.trim_matches(|c: char| c <= ' ').chars().filter(|c| !"\t\r\n".contains(*c)).collect();
            let lower = target.to_lowercase();
            let skipped = ["data:", "javascript:", "mailto:", "tel:", "sms:", "about:", "blob:"];
            let here = value.starts_with('#') && !based;
            if !target.is_empty() && !here && !skipped.iter().any(|scheme| lower.starts_with(scheme)) {
                links.insert((kind, target));
            }
        };
        match &*name.local {
            "a" => add(LinkKind::Anchor, get("href")),
            _ if foreign => {}
            "area" => add(LinkKind::Area, get("href")),
            "base" => based |= get("href").is_some(),
            "iframe" | "frame" => add(LinkKind::Frame, get("src")),
            "script" => add(LinkKind::Script, get("src")),
            "audio" | "track" => add(LinkKind::Media, get("src")),
            "embed" => add(LinkKind::Object, get("src")),
            "object" => add(LinkKind::Object, get("data")),
            "input" if get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                add(LinkKind::Image, get("src"))
            }
            "form" if get("method").is_none_or(|method| !method.eq_ignore_ascii_case("post")) => {
                add(LinkKind::Form, get("action"))
            }
            "video" => {
                add(LinkKind::Media, get("src"));
                add(LinkKind::Image, get("poster"));
            }
            "img" | "source" => {
                add(if &*name.local == "img" { LinkKind::Image } else { LinkKind::Media }, get("src"));
                for url in candidates(get("srcset").unwrap_or_default()) {
                    add(LinkKind::Image, Some(url));
                }
            }
            "meta" if get("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) => {
                let content = get("content").unwrap_or_default();
                let at = content.to_ascii_lowercase().find("url=");
                add(LinkKind::Refresh, at.map(|at| content[at + 4..].trim_matches(['\'', '"'])));
            }
            "link" => {
                let words: Vec<String> =
                    get("rel").unwrap_or_default().split_whitespace().map(str::to_ascii_lowercase).collect();
                let has = |word: &str| words.iter().any(|known| known == word);
                let kind = if has("stylesheet") {
                    LinkKind::Stylesheet
                } else if has("canonical") {
                    LinkKind::Canonical
                } else if has("next") {
                    LinkKind::Next
                } else if has("prev") || has("previous") {
                    LinkKind::Prev
                } else if has("alternate") {
                    LinkKind::Alternate
                } else if words
                    .iter()
                    .any(|word| word == "icon" || word == "mask-icon" || word.starts_with("apple-touch-icon"))
                {
                    LinkKind::Icon
                } else if ["preload", "prefetch", "modulepreload", "manifest"].iter().any(|word| has(word)) {
                    LinkKind::Preload
                } else if has("dns-prefetch") || has("preconnect") {
                    continue;
                } else {
                    LinkKind::Related
                };
                for url in candidates(get("imagesrcset").filter(|_| kind.is_embed()).unwrap_or_default()) {
                    add(LinkKind::Image, Some(url));
                }
                add(kind, get("href"));
            }
            _ => {}
        }
    }
    links
}

/// A simple reading of `srcset`: candidates are apart by commas with a blank on one side.
fn candidates(srcset: &str) -> Vec<&str> {
    let mut urls = Vec::new();
    let mut expect_url = true;
    for word in srcset.split_ascii_whitespace() {
        if expect_url {
            let url = word.trim_matches(',');
            if url.is_empty() {
                continue;
            }
            urls.push(url);
        } else if let Some((_, next)) = word.split_once(',')
            && !next.is_empty()
        {
            urls.push(next.trim_end_matches(','));
            expect_url = next.ends_with(',');
            continue;
        }
        expect_url = word.ends_with(',');
    }
    urls
}
