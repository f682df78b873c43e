//! Scripts: which letters a text is written in.

/// A script, or a family of them that belongs to one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Script {
    // The first seven have the numbers of the model file.
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Tibetan,
    Ethiopic,
    Hebrew,
    Greek,
    Han,
    Kana,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
    Georgian,
    Armenian,
    Bengali,
    Gurmukhi,
    Gujarati,
    Oriya,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thaana,
}

const COUNT: usize = Script::Thaana as usize + 1;

pub(crate) const ALL: [Script; COUNT] = [
    Script::Latin,
    Script::Cyrillic,
    Script::Arabic,
    Script::Devanagari,
    Script::Tibetan,
    Script::Ethiopic,
    Script::Hebrew,
    Script::Greek,
    Script::Han,
    Script::Kana,
    Script::Hangul,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
    Script::Georgian,
    Script::Armenian,
    Script::Bengali,
    Script::Gurmukhi,
    Script::Gujarati,
    Script::Oriya,
    Script::Tamil,
    Script::Telugu,
    Script::Kannada,
    Script::Malayalam,
    Script::Sinhala,
    Script::Thaana,
];

impl Script {
    /// The script of a letter; `None` for everything else.
    #[inline]
    pub(crate) fn of(character: char) -> Option<Script> {
        if character.is_ascii() {
            return character.is_ascii_alphabetic().then_some(Script::Latin);
        }
        if !character.is_alphabetic() {
            return None;
        }
        Some(match u32::from(character) {
            0x00aa..=0x024f | 0x1e00..=0x1eff | 0x0250..=0x02af | 0x2c60..=0x2c7f | 0xa720..=0xa7ff => {
                Script::Latin
            }
            0x0370..=0x03ff | 0x1f00..=0x1fff => Script::Greek,
            0x0400..=0x052f | 0x1c80..=0x1c8f | 0x2de0..=0x2dff | 0xa640..=0xa69f => Script::Cyrillic,
            0x0530..=0x058f => Script::Armenian,
            0x0590..=0x05ff | 0xfb1d..=0xfb4f => Script::Hebrew,
            0x0600..=0x06ff | 0x0750..=0x077f | 0x08a0..=0x08ff | 0xfb50..=0xfdff | 0xfe70..=0xfeff => {
                Script::Arabic
            }
            0x0780..=0x07bf => Script::Thaana,
            0x0900..=0x097f => Script::Devanagari,
            0x0980..=0x09ff => Script::Bengali,
            0x0a00..=0x0a7f => Script::Gurmukhi,
            0x0a80..=0x0aff => Script::Gujarati,
            0x0b00..=0x0b7f => Script::Oriya,
            0x0b80..=0x0bff => Script::Tamil,
            0x0c00..=0x0c7f => Script::Telugu,
            0x0c80..=0x0cff => Script::Kannada,
            0x0d00..=0x0d7f => Script::Malayalam,
            0x0d80..=0x0dff => Script::Sinhala,
            0x0e00..=0x0e7f => Script::Thai,
            0x0e80..=0x0eff => Script::Lao,
            0x0f00..=0x0fff => Script::Tibetan,
            0x1000..=0x109f | 0xa9e0..=0xa9ff | 0xaa60..=0xaa7f => Script::Myanmar,
            0x10a0..=0x10ff | 0x1c90..=0x1cbf | 0x2d00..=0x2d2f => Script::Georgian,
            0x1200..=0x139f | 0x2d80..=0x2ddf => Script::Ethiopic,
            0x1780..=0x17ff => Script::Khmer,
            0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7ff => Script::Hangul,
            0x3040..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Script::Kana,
            0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff => {
                Script::Han
            }
            _ => return None,
        })
    }

    /// The language of a script that has but one of note.
    pub(crate) fn only_language(self) -> Option<&'static str> {
        Some(match self {
            Script::Latin
            | Script::Cyrillic
            | Script::Arabic
            | Script::Devanagari
            | Script::Tibetan
            | Script::Ethiopic
            | Script::Hebrew => return None,
            Script::Greek => "ell",
            Script::Han => "zho",
            Script::Kana => "jpn",
            Script::Hangul => "kor",
            Script::Thai => "tha",
            Script::Lao => "lao",
            Script::Khmer => "khm",
            Script::Myanmar => "mya",
            Script::Georgian => "kat",
            Script::Armenian => "hye",
            Script::Bengali => "ben",
            Script::Gurmukhi => "pan",
            Script::Gujarati => "guj",
            Script::Oriya => "ori",
            Script::Tamil => "tam",
            Script::Telugu => "tel",
            Script::Kannada => "kan",
            Script::Malayalam => "mal",
            Script::Sinhala => "sin",
            Script::Thaana => "div",
        })
    }

    /// Whether texts of this language are written in it.
    pub(crate) fn may_be(self, language: &str) -> bool {
        match self.only_language() {
            Some(only) => only == language || (self == Script::Han && language == "jpn"),
            None => super::model::Model::of(self).is_some_and(|model| model.place(language).is_some()),
        }
    }

    /// How much a letter of it counts: as much as it says, and Latin ones little, for they are quoted everywhere.
    fn weight(self) -> f32 {
        match self {
            Script::Latin => 0.4,
            Script::Han | Script::Kana => 2.0,
            Script::Hangul => 1.5,
            _ => 1.0,
        }
    }
}

/// Combining marks within words.
pub(crate) fn is_mark(character: char) -> bool {
    crate::words::is_mark(character)
}

/// How many letters of each script a text has.
pub(crate) struct Scripts([usize; COUNT]);

impl Scripts {
    pub(crate) fn of(text: &str) -> Scripts {
        let mut counts = [0; COUNT];
        for character in text.chars() {
            if let Some(script) = Script::of(character) {
                counts[script as usize] += 1;
            }
        }
        Scripts(counts)
    }

    pub(crate) fn letters(&self) -> usize {
        self.0.iter().sum()
    }

    pub(crate) fn count(&self, script: Script) -> usize {
        match script {
            // Japanese is written in both.
            Script::Kana => self.0[Script::Kana as usize] + self.0[Script::Han as usize],
            _ => self.0[script as usize],
        }
    }

    /// The script of the text; `None` if it has no letters.
    pub(crate) fn main(&self) -> Option<Script> {
        let weight = |script: Script| self.0[script as usize] as f32 * script.weight();
        let kana = self.0[Script::Kana as usize];
        let han = self.0[Script::Han as usize];
        // Together they are Japanese, unless the kana are a name or two in a Chinese text.
        let japanese = kana * 12 >= han && kana > 0;
        let weight = |script: Script| match script {
            Script::Kana if japanese => weight(Script::Kana) + weight(Script::Han),
            Script::Han if japanese => 0.0,
            script => weight(script),
        };
        ALL.into_iter()
            .filter(|&script| self.0[script as usize] > 0)
            .max_by(|&one, &other| weight(one).total_cmp(&weight(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_agree() {
        assert!(ALL.iter().enumerate().all(|(place, &script)| script as usize == place));
    }

    #[test]
    fn main_script() {
        for (text, script) in [
            ("abc", Some(Script::Latin)),
            ("ñandú", Some(Script::Latin)),
            ("αβγδ word word", Some(Script::Greek)),
            ("日本語です", Some(Script::Kana)),
            ("中文字", Some(Script::Han)),
            ("123", None),
        ] {
            assert_eq!(Scripts::of(text).main(), script, "{text}");
        }
    }
}
