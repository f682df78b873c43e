//! Names of tags and attributes as numbers, so that recognising one is comparing two integers.

/// A name of up to 16 bytes in lower case, packed; longer ones are 0, which is no name.
pub(crate) type Key = u128;

/// The key of a name, whatever its case.
#[inline]
pub(crate) const fn key(name: &[u8]) -> Key {
    if name.len() > 16 {
        return 0;
    }
    let mut packed: Key = 0;
    let mut i = 0;
    while i < name.len() {
        // A leading NUL would vanish in the number.
        if name[i] == 0 {
            return 0;
        }
        packed = packed << 8 | name[i].to_ascii_lowercase() as Key;
        i += 1;
    }
    packed
}

/// The blanks of HTML; a carriage return counts since the standard turns it into a line feed before tokenizing.
#[inline(always)]
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | 0x0c)
}

/// Whether `byte` ends a tag name.
#[inline(always)]
pub(crate) const fn ends_tag_name(byte: u8) -> bool {
    is_space(byte) || byte == b'/' || byte == b'>'
}

/// For each first letter, a bit per length that some name has: turns most names away before they are packed.
type Shapes = [u32; 32];

const fn shapes(names: &[&[u8]]) -> Shapes {
    let mut table = [0; 32];
    let mut i = 0;
    while i < names.len() {
        table[(names[i][0] & 31) as usize] |= 1 << names[i].len();
        i += 1;
    }
    table
}

#[inline(always)]
fn has_shape(shapes: &Shapes, name: &[u8]) -> bool {
    let Some(first) = name.first() else { return false };
    name.len() <= 16 && shapes[usize::from(first & 31)] >> name.len() & 1 == 1
}

macro_rules! keyed {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),* }

        impl $name {
            #[inline(always)]
            pub(crate) fn of(name: &[u8]) -> Option<$name> {
                const SHAPES: Shapes = shapes(&[$($text),*]);
                if has_shape(&SHAPES, name) { $name::of_shaped(name) } else { None }
            }

            #[allow(non_upper_case_globals, reason = "a constant per variant, named after it")]
            fn of_shaped(name: &[u8]) -> Option<$name> {
                $(const $variant: Key = key($text);)*
                match key(name) {
                    $($variant => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

keyed! {
    /// The elements that say something, or change how what follows is read.
    Tag {
        A = b"a",
        Applet = b"applet",
        Area = b"area",
        Audio = b"audio",
        Base = b"base",
        Embed = b"embed",
        Form = b"form",
        Frame = b"frame",
        Html = b"html",
        Iframe = b"iframe",
        Image = b"image",
        Img = b"img",
        Input = b"input",
        Link = b"link",
        Math = b"math",
        Meta = b"meta",
        Noembed = b"noembed",
        Noframes = b"noframes",
        Object = b"object",
        Plaintext = b"plaintext",
        Script = b"script",
        Source = b"source",
        Style = b"style",
        Svg = b"svg",
        Textarea = b"textarea",
        Title = b"title",
        Track = b"track",
        Video = b"video",
        Xmp = b"xmp",
    }
}

keyed! {
    /// The attributes that say something.
    Attribute {
        Action = b"action",
        Charset = b"charset",
        Content = b"content",
        Data = b"data",
        Href = b"href",
        HttpEquiv = b"http-equiv",
        Imagesrcset = b"imagesrcset",
        Lang = b"lang",
        Method = b"method",
        Name = b"name",
        Poster = b"poster",
        Rel = b"rel",
        Src = b"src",
        Srcset = b"srcset",
        Type = b"type",
        XlinkHref = b"xlink:href",
        XmlLang = b"xml:lang",
    }
}

/// What an element does to the flow of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Stands on lines of its own.
    Block,
    /// Apart from its neighbours on the same line.
    Cell,
    /// `h1` to `h6`.
    Heading,
    /// Not a part of the content.
    Hidden,
    /// Where the content certainly is.
    Main,
}

impl Flow {
    /// What the element `name` does; `None` if it stands in the line like a word.
    pub(crate) fn of(name: &[u8]) -> Option<Flow> {
        const BLOCKS: &[&[u8]] = &[
            b"address",
            b"article",
            b"blockquote",
            b"body",
            b"br",
            b"caption",
            b"center",
            b"dd",
            b"details",
            b"dialog",
            b"div",
            b"dl",
            b"dt",
            b"fieldset",
            b"figcaption",
            b"figure",
            b"form",
            b"header",
            b"hr",
            b"legend",
            b"li",
            b"menu",
            b"ol",
            b"option",
            b"p",
            b"pre",
            b"section",
            b"summary",
            b"table",
            b"tbody",
            b"tfoot",
            b"thead",
            b"title",
            b"tr",
            b"ul",
        ];
        const CELLS: &[&[u8]] = &[b"td", b"th"];
        const HEADINGS: &[&[u8]] = &[b"h1", b"h2", b"h3", b"h4", b"h5", b"h6"];
        const HIDDEN: &[&[u8]] = &[
            b"aside",
            b"audio",
            b"button",
            b"canvas",
            b"datalist",
            b"footer",
            b"math",
            b"nav",
            b"noscript",
            b"object",
            b"select",
            b"svg",
            b"template",
            b"video",
        ];
        const MAIN: &[&[u8]] = &[b"main"];
        const TABLES: [(&[&[u8]], Flow); 5] = [
            (BLOCKS, Flow::Block),
            (CELLS, Flow::Cell),
            (HEADINGS, Flow::Heading),
            (HIDDEN, Flow::Hidden),
            (MAIN, Flow::Main),
        ];
        const COUNT: usize = BLOCKS.len() + CELLS.len() + HEADINGS.len() + HIDDEN.len() + MAIN.len();
        const SORTED: [(Key, Flow); COUNT] = sorted(&TABLES);
        const SHAPES: Shapes = shapes_of(&TABLES);
        // Most names are in no table.
        if !has_shape(&SHAPES, name) {
            return None;
        }
        let found = SORTED.binary_search_by_key(&key(name), |(key, _)| *key);
        found.ok().map(|index| SORTED[index].1)
    }
}

/// The names of all tables in the order of their keys.
const fn sorted<const COUNT: usize>(tables: &[(&[&[u8]], Flow)]) -> [(Key, Flow); COUNT] {
    let mut sorted = [(0, Flow::Block); COUNT];
    let (mut count, mut table) = (0, 0);
    while table < tables.len() {
        let (names, flow) = tables[table];
        let mut name = 0;
        while name < names.len() {
            let key = key(names[name]);
            let mut at = count;
            while at > 0 && sorted[at - 1].0 > key {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = (key, flow);
            count += 1;
            name += 1;
        }
        table += 1;
    }
    sorted
}

const fn shapes_of(tables: &[(&[&[u8]], Flow)]) -> Shapes {
    let mut all = [0; 32];
    let mut table = 0;
    while table < tables.len() {
        let some = shapes(tables[table].0);
        let mut first = 0;
        while first < all.len() {
            all[first] |= some[first];
            first += 1;
        }
        table += 1;
    }
    all
}

/// How many attributes there are.
pub(crate) const ATTRIBUTES: usize = Attribute::XmlLang as usize + 1;

/// The raw values of one tag's attributes; the first of a name wins.
#[derive(Debug, Default)]
pub(crate) struct Values<'a>([Option<&'a [u8]>; ATTRIBUTES]);

impl<'a> Values<'a> {
    pub(crate) fn clear(&mut self) {
        self.0 = [None; ATTRIBUTES];
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, name: &[u8], value: &'a [u8]) {
        if let Some(attribute) = Attribute::of(name) {
            self.0[attribute as usize].get_or_insert(value);
        }
    }

    pub(crate) fn get(&self, attribute: Attribute) -> Option<&'a [u8]> {
        self.0[attribute as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case() {
        assert_eq!(Tag::of(b"A"), Some(Tag::A));
        assert_eq!(Tag::of(b"iFrame"), Some(Tag::Iframe));
        assert_eq!(Tag::of(b"ab"), None);
        assert_eq!(Tag::of(b""), None);
        assert_eq!(Tag::of(b"aaaaaaaaaaaaaaaaaa"), None);
        assert_eq!(Tag::of(b"\0a"), None);
        assert_eq!(Attribute::of(b"HREF"), Some(Attribute::Href));
        assert_eq!(Flow::of(b"DIV"), Some(Flow::Block));
        assert_eq!(Flow::of(b"h6"), Some(Flow::Heading));
        assert_eq!(Flow::of(b"hr"), Some(Flow::Block));
        assert_eq!(Flow::of(b"b"), None);
        assert_eq!(Flow::of(b""), None);
        assert_eq!(Flow::of(b"Address"), Some(Flow::Block));
        assert_eq!(Flow::of(b"UL"), Some(Flow::Block));
        assert_eq!(Flow::of(b"td"), Some(Flow::Cell));
        assert_eq!(Flow::of(b"noscript"), Some(Flow::Hidden));
        assert_eq!(Flow::of(b"main"), Some(Flow::Main));
        assert_eq!(Flow::of(b"mail"), None);
        assert_eq!(Flow::of(b"\0p"), None);
    }

    #[test]
    fn the_first_of_a_name_wins() {
        let mut values = Values::default();
        values.add(b"HREF", b"1");
        values.add(b"href", b"2");
        assert_eq!(values.get(Attribute::Href), Some(&b"1"[..]));
        values.clear();
        assert_eq!(values.get(Attribute::Href), None);
    }
}
