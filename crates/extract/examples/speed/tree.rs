//! html5ever's tree builder over a sink that remembers names and attributes and forgets the tree: the least work a user of it can have.

use std::borrow::Cow;
use std::cell::RefCell;

use html5ever::interface::ElemName;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

#[derive(Debug)]
pub(crate) struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// An element, or `None` for what is none.
type Node = Option<(QualName, Vec<Attribute>)>;

#[derive(Default)]
struct Sink {
    elements: RefCell<Vec<Node>>,
}

impl Sink {
    fn push(&self, element: Node) -> usize {
        let mut elements = self.elements.borrow_mut();
        elements.push(element);
        elements.len()
    }
}

impl TreeSink for Sink {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = Name;

    fn finish(self) -> Self {
        self
    }
    fn get_document(&self) -> usize {
        0
    }
    fn get_template_contents(&self, _: &usize) -> usize {
        self.push(None)
    }
    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }
    fn elem_name(&self, target: &usize) -> Name {
        Name(self.elements.borrow()[target - 1].as_ref().expect("an element").0.clone())
    }
    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> usize {
        self.push(Some((name, attributes)))
    }
    fn create_comment(&self, _: StrTendril) -> usize {
        self.push(None)
    }
    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.push(None)
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

/// How many navigation links a page has.
pub(crate) fn links(html: &str) -> usize {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..Default::default() },
        ..Default::default()
    };
    let sink = parse_document(Sink::default(), options).one(html);
    let mut found: Vec<String> = Vec::new();
    for (name, attributes) in sink.elements.into_inner().into_iter().flatten() {
        let wanted = match &*name.local {
            "a" | "area" | "link" | "base" => "href",
            "iframe" | "frame" => "src",
            "meta" => "content",
            _ => continue,
        };
        let value = attributes.iter().find(|attribute| &*attribute.name.local == wanted);
        found.extend(value.map(|attribute| attribute.value.to_string()));
    }
    std::hint::black_box(found).len()
}
