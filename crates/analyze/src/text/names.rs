//! Elements by what they mean for the text.

/// An element, or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Text,
    /// Any element without a meaning of its own; inline.
    Inline,
    A,
    Br,
    /// Images, inputs and other elements without content.
    Void,
    P,
    Div,
    Section,
    Article,
    Main,
    Aside,
    Nav,
    Header,
    Footer,
    Heading,
    List,
    Item,
    /// `dt` and `dd`.
    Term,
    Table,
    /// `thead`, `tbody`, `tfoot`.
    Rows,
    Row,
    Cell,
    Pre,
    Quote,
    Figure,
    Caption,
    Form,
    /// Any other element that opens a block.
    Block,
    /// `html`, `head` and `body`, which are one here: the whole.
    Body,
    /// Not shown, or not to be read: scripts, controls, pictures.
    Hidden,
}

impl Tag {
    pub(crate) fn of(name: &[u8]) -> Tag {
        let mut lower = [0; 12];
        let Some(lower) = lower.get_mut(..name.len()) else { return Tag::Inline };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        match &*lower {
            b"a" => Tag::A,
            b"br" => Tag::Br,
            b"img" | b"input" | b"link" | b"meta" | b"wbr" | b"area" | b"base" | b"col" | b"embed"
            | b"param" | b"source" | b"track" | b"basefont" | b"bgsound" | b"frame" | b"keygen" => Tag::Void,
            b"hr" => Tag::Void,
            b"p" => Tag::P,
            b"div" | b"center" => Tag::Div,
            b"section" => Tag::Section,
            b"article" => Tag::Article,
            b"main" => Tag::Main,
            b"aside" => Tag::Aside,
            b"nav" => Tag::Nav,
            b"header" => Tag::Header,
            b"footer" => Tag::Footer,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Tag::Heading,
            b"ul" | b"ol" | b"menu" | b"dir" | b"dl" => Tag::List,
            b"li" => Tag::Item,
            b"dt" | b"dd" => Tag::Term,
            b"table" => Tag::Table,
            b"thead" | b"tbody" | b"tfoot" => Tag::Rows,
            b"tr" => Tag::Row,
            b"td" | b"th" => Tag::Cell,
            b"pre" | b"listing" | b"xmp" => Tag::Pre,
            b"blockquote" => Tag::Quote,
            b"figure" => Tag::Figure,
            b"figcaption" | b"caption" => Tag::Caption,
            b"form" => Tag::Form,
            b"address" | b"details" | b"summary" | b"fieldset" | b"hgroup" | b"dialog" | b"legend"
            | b"search" | b"noframes" | b"frameset" | b"option" | b"optgroup" => Tag::Block,
            b"body" | b"html" | b"head" => Tag::Body,
            b"script" | b"style" | b"noscript" | b"template" | b"title" | b"textarea" | b"select"
            | b"button" | b"iframe" | b"svg" | b"math" | b"canvas" | b"object" | b"applet" | b"audio"
            | b"video" | b"map" | b"datalist" | b"noembed" | b"rp" | b"progress" | b"meter" => Tag::Hidden,
            _ => Tag::Inline,
        }
    }

    /// Whether it parts the text before it from the text in it.
    pub(crate) fn is_block(self) -> bool {
        !matches!(self, Tag::Text | Tag::Inline | Tag::A | Tag::Br | Tag::Void)
    }

    /// Whether it has no content and no end tag.
    pub(crate) fn is_void(self) -> bool {
        matches!(self, Tag::Br | Tag::Void)
    }
}
