//! Words by which near languages are told apart. Croatian and Serbian, or Indonesian and Malay, have the same sequences of letters for whole
//! paragraphs; there a few everyday words decide, which one has and the other has not. `model` asks for every word.
//!
//! A word stands here only if each language that it costs something has it less than a twentieth as often, per million words, as the one
//! that it is listed for. Names count, and so do words of another meaning that are spelt the same (`pelo` is hair in Spanish, `deur` a door in Dutch)
//! and what is only spoken; in doubt a word is left out. How often a language has a word is told by the Python package wordfreq (Bokmål,
//! Danish, Dutch, Indonesian, Malay, Portuguese, Spanish), and by the translated messages of LibreOffice, Firefox, GIMP, GTK and VLC. For Croatian,
//! Bosnian and Serbian, which wordfreq has as one, the standard of each language decides on words that no message has, like the months.

use std::collections::BTreeMap;

/// What a word costs in languages of its group that do not have it, in the steps of `model`: six units of the natural logarithm.
const COST: u8 = 108;

/// Each line: languages, then words that only these of their group have. The others of the group pay for them.
type Group = &'static [(&'static str, &'static str)];

const GROUPS: [Group; 6] = [
    &[
        (
            "hrv",
            "tko netko nitko svatko tjedan tjedna tjednu tisuća tisuće sustav sustava sustavu sustavi sustavom računalo računala računalu računalom \
             europska europske tvrtke glazba glazbe obitelj obitelji točka točke točno suradnja suradnje poduzeće siječnja veljače ožujka travnja \
             svibnja lipnja srpnja kolovoza rujna listopada studenoga studenog prosinca kazalište vlak gospodarstvo gospodarstva poslužitelj \
             poslužitelja pisač pisača trenutačno stupac gumb duljina vjerojatno vjerojatnost netočno tipkovnice sinkronizacija kupnje primjerice",
        ),
        (
            "hrv bos",
            "gdje vrijeme prije uvijek dvije riječ riječi također sljedeći sljedeća sljedeće cijena cijene ovdje negdje nigdje uopće opći opća opće \
             općina općine zahtjev zahtjeva vidjeti dio cijeli cijela mjesto mjesta mjestu svijet svijeta djeca djece mlijeko uspjeh rješenje rješenja \
             promjena promjene promijeniti promijenite primjer primjera vijest vijesti lijepo lijevo smije umjesto posljednji posljednja posljednje \
             dijela dijelova htio čovjek ljeto povijest povijesti uvjet uvjeti uvjete osobni osobna osobne tijekom poveznica poveznice kruh historija \
             historije historijski augusta vrijednost vrijednosti mijenja tijelo obavijest obavijesti",
        ),
        (
            "srp",
            "gde vreme pre posle uvek dve reč reči sledeći sledeća sledeće cena cene ovde negde nigde zahtev zahteva bezbednost deo ceo cela mesto \
             mesta mestu deca dece mleko uspeh rešenje rešenja promena promene promenite primer primera lepo levo sme umesto poslednji poslednja \
             poslednje obaveštenje obaveštenja hteo čovek leto vrednost vrednosti menja zameni",
        ),
        (
            "bos srp",
            "računar računara računaru računari evropa evrope evropska evropske evropski tačka tačke tačno uslov uslovi uslove saradnja saradnje lični \
             lična lične preduzeće januara februara septembra oktobra novembra decembra avgusta voz pozorište takođe uopšte opšti opšta opšte opština \
             opštine korišćenje korišćenja istorija istorije bezbjednost tastatura tastature štampač štampača sinhronizacija",
        ),
        ("bos", "lahko mehko kahva vjerovatno vjerovatnoća"),
    ],
    &[
        (
            "ind",
            "bisa karena bahwa kantor unduh unggah mengunduh perangkat berbeda coba mencoba inggris universitas kualitas aktivitas situs ponsel gratis \
             provinsi menit telepon tanggal kebijakan bagian yaitu nomor kapan pribadi akun kartu tipe grup kondisi membutuhkan kecepatan rusak persen \
             efek desain otomatis didukung maksimal konten tabel ditampilkan konfirmasi referensi koneksi standar metode opsi tautan ekspor impor \
             kinerja lisensi eropa jepang kolom komentar deskripsi terkait formulir memperbarui pembaruan favorit bisnis tampilkan sertifikat",
        ),
        (
            "msa",
            "kerana bahawa fail tetapan maklumat berbeza cuba kod tarikh minit telefon sesawang perisian laluan sahaja syarikat universiti kualiti \
             aktiviti iaitu butang tetingkap ralat sokongan perkhidmatan inggeris basikal hospital bahagian nombor peribadi akaun kad selepas bilik \
             filem jawapan muzik kelajuan rosak peratus rahsia rekod enjin mesej lesen identiti saiz imej",
        ),
    ],
    &[
        (
            "nno",
            "ikkje eg ein eit dei frå berre korleis kva kvar kvifor noko nokon nokre gjer gjere vere vert vart òg mykje meir saman fleire ho kjem \
             tilgjengeleg mogleg bilete seinare utan sjølv difor høgre brukar ønskjer nyttar desse heile sidan medan tek gjev namn namnet gong",
        ),
        ("nor", "hva noe noen gjør gjøre mye mer uten ble tilgjengelig annen"),
        ("nor nno", "av etter opp ut meg deg seg språk blir blitt mot gjennom kanskje etterpå veldig"),
        (
            "nor dan",
            "ikke jeg fra hvordan hvor hvorfor hvem være flere selv hvis kommer disse mulig hele navn navnet",
        ),
        (
            "dan",
            "af efter op nu nogen noget nogle hvad mere uden gør gøre bliver blev blevet ud mig dig sig sprog lige billede vælg vælge tilføj åbn findes \
             bruger brugeren mellem igennem måske nødvendigt angiver anden andet",
        ),
    ],
    &[
        (
            "glg",
            "unha coa coas dunha nunha dun nun polo pola polos polas máis tamén xa estea hai facer dende ata entón cando ningunha algunha opcións non \
             súa súas moi lle poden vostede",
        ),
        (
            "por",
            "não uma umas você pela pelas são também então isso em numa já há fazer quando nenhuma alguma opção opções tem um à às muito sem",
        ),
        (
            "spa",
            "una unas los las más también según hasta después entonces hacer cuando donde hay ya siguiente ninguna alguna opciones muy su sus puede \
             pueden otro otra sin nuevo nueva fue",
        ),
        (
            "glg por",
            "as ao aos das seu seus mais onde deste desta seguinte até depois na nas ou foi tempo novo outro outra pode",
        ),
        ("glg spa", "con en opción el del pero"),
    ],
    &[
        ("nld", "niet zijn wordt worden deze door naar bij hebben heeft kunt uw zich"),
        ("fry", "wurdt wurde dizze oan foar troch yn nei hawwe kinne moatte moat gjin út"),
        ("afr", "nie hierdie vir hulle jy baie sodat moenie lêer"),
        ("nld afr", "het van met moet maar uit een voor aan ook geen"),
    ],
    &[("xho", "kwaye okanye xa apho yaye"), ("zul", "uma lapho")],
];

/// The words of the groups that one model has languages of.
pub(crate) struct Words {
    /// By the last bits of a word's hash, or the next free place: hash and costs by language. Half of them are empty at least.
    /// Words themselves are not compared: one word in some millions has a hash of another, and then one word of a text costs too much.
    slots: Vec<Option<(u32, Box<[u8]>)>>,
}

impl Words {
    pub(crate) fn of(languages: &[&str]) -> Words {
        let mut rows: BTreeMap<&str, Box<[u8]>> = BTreeMap::new();
        for group in GROUPS {
            let members: Vec<&str> = group.iter().flat_map(|(codes, _)| codes.split(' ')).collect();
            for (codes, words) in group {
                let is_lacking =
                    |code: &&str| members.contains(code) && !codes.split(' ').any(|own| own == *code);
                for word in words.split_ascii_whitespace() {
                    let row = rows.entry(word).or_insert_with(|| vec![0; languages.len()].into());
                    for (cost, _) in row.iter_mut().zip(languages).filter(|(_, code)| is_lacking(code)) {
                        *cost = COST;
                    }
                }
            }
        }
        rows.retain(|_, row| row.iter().any(|cost| *cost > 0));
        let mut slots = vec![None; (2 * rows.len() + 1).next_power_of_two()];
        for (word, row) in rows {
            let letters: Vec<u32> = word.chars().map(u32::from).collect();
            let hash = hash(&letters);
            let mut place = hash as usize & (slots.len() - 1);
            while slots[place].is_some() {
                place = (place + 1) & (slots.len() - 1);
            }
            slots[place] = Some((hash, row));
        }
        Words { slots }
    }

    /// What a word costs in each language, if it is one that tells; without the blanks around it.
    #[inline]
    pub(crate) fn costs(&self, word: &[u32]) -> Option<&[u8]> {
        let hash = hash(word);
        let mut place = hash as usize & (self.slots.len() - 1);
        while let Some((known, costs)) = &self.slots[place] {
            if *known == hash {
                return Some(costs);
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
        None
    }
}

/// The hash of some letters, as in the script that trains the model.
#[inline]
pub(crate) fn hash(letters: &[u32]) -> u32 {
    letters.iter().fold(0, |code: u32, letter| {
        let code = (code ^ letter).wrapping_mul(0x9e37_79b1);
        code ^ (code >> 15)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_word_stands_once_in_a_group() {
        for group in GROUPS {
            let mut seen = HashSet::new();
            for word in group.iter().flat_map(|(_, words)| words.split_ascii_whitespace()) {
                assert!(seen.insert(word), "{word}");
            }
        }
    }

    #[test]
    fn costs_of_words() {
        let words = Words::of(&["eng", "srp", "hrv", "bos"]);
        let costs = |word: &str| words.costs(&word.chars().map(u32::from).collect::<Vec<_>>());
        assert_eq!(costs("gdje"), Some(&[0, COST, 0, 0][..]));
        assert_eq!(costs("gde"), Some(&[0, 0, COST, COST][..]));
        assert_eq!(costs("where"), None);
        assert_eq!(costs(""), None);
        assert!(Words::of(&["rus"]).costs(&[0x0438]).is_none());
    }
}
