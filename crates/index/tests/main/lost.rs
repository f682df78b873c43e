//! Imported rows whose part is damaged come again, and nothing else changes, wherever that ends.

use std::path::{Path, PathBuf};

use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_index::{Foreign, ImportOptions, Imported, Manifest, check_index, import, import_lost, recover};

const ROOT: &str = "/repository";

/// A plain archive of pages with these names.
fn archive(env: &Env, path: &str, names: &[&str]) -> Foreign {
    let page = |name: &&str| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{name}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/{name}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:{name}>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    let path = PathBuf::from(path);
    env.files.create_dir_all(path.parent().unwrap()).unwrap();
    env.files.write_atomic(&path, names.iter().map(page).collect::<String>().as_bytes()).unwrap();
    Foreign { name: path.to_str().unwrap().to_owned(), path }
}

fn take(env: &Env, foreign: &[Foreign]) -> Imported {
    let options = ImportOptions::named("foreign");
    import(&env.files, Path::new(ROOT), foreign, &options, &|| env.clock.unix(), |_, _| {}).unwrap()
}

/// Imports again what is lost; `seen` is called at every record.
fn again(env: &Env, mut seen: impl FnMut()) -> Option<(Vec<Foreign>, Imported)> {
    let (mut lost, options) = (Vec::new(), ImportOptions::named("foreign"));
    let found = |foreign: &[Foreign]| lost = foreign.to_vec();
    let now = || env.clock.unix();
    let imported = import_lost(&env.files, Path::new(ROOT), &options, &now, found, |_, _| seen()).unwrap()?;
    Some((lost, imported))
}

fn list(env: &Env) -> Manifest {
    Manifest::read(&env.files, Path::new(ROOT)).unwrap()
}

fn index(name: &str) -> PathBuf {
    Manifest::directory(Path::new(ROOT)).join(name)
}

fn damage(env: &Env, part: &str) {
    let mut bytes = env.files.read(&index(part)).unwrap();
    bytes[100] ^= 1;
    env.files.write_atomic(&index(part), &bytes).unwrap();
}

#[test]
fn the_old_list_holds_until_all_is_there_again() {
    Simulation::new(1).run(|env| async move {
        let one = archive(&env, "/elsewhere/one.warc", &["a", "b", "c"]);
        let two = archive(&env, "/elsewhere/two.warc", &["d"]);
        take(&env, std::slice::from_ref(&one));
        take(&env, std::slice::from_ref(&two));
        damage(&env, "part-000001.parquet");
        let before = env.files.read(&index("INDEX")).unwrap();
        let mut records = 0;
        let seen = || {
            records += 1;
            assert!(env.files.read(&index("INDEX")).unwrap() == before);
            for part in ["part-000001.parquet", "part-000002.parquet"] {
                assert!(env.files.entry(&index(part)).unwrap().is_some(), "{part}");
            }
        };
        let (lost, imported) = again(&env, seen).unwrap();
        assert_eq!((lost, imported.instances, records), (vec![one.clone()], 3, 3));
        let list = list(&env);
        let parts: Vec<(&str, u64)> = list.parts.iter().map(|part| (part.file.as_str(), part.rows)).collect();
        assert_eq!(parts, [("part-000002.parquet", 1), ("part-000003.parquet", 3)]);
        assert_eq!(list.imported, [two.name, one.name]);
        assert!(env.files.entry(&index("part-000001.parquet")).unwrap().is_none());
        assert_eq!(check_index(&env.files, Path::new(ROOT)).unwrap().problems, [""; 0]);
    });
}

#[test]
fn of_parts_that_do_not_name_their_archives_the_order_tells() {
    Simulation::new(1).run(|env| async move {
        let all = ["one", "two", "three"].map(|name| {
            let foreign = archive(&env, &format!("/elsewhere/{name}.warc"), &[name]);
            take(&env, std::slice::from_ref(&foreign));
            foreign
        });
        // As earlier versions wrote it.
        let text = String::from_utf8(env.files.read(&index("INDEX")).unwrap()).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
        for part in json["parts"].as_array_mut().unwrap() {
            part.as_object_mut().unwrap().remove("archives").unwrap();
        }
        let json = serde_json::to_string_pretty(&json).unwrap();
        let text = format!("MATTOCK-INDEX 4 {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
        env.files.write_atomic(&index("INDEX"), text.as_bytes()).unwrap();
        damage(&env, "part-000002.parquet");
        let (lost, imported) = again(&env, || {}).unwrap();
        assert_eq!((lost.as_slice(), imported.instances), (&all[1..2], 1));
        assert_eq!((list(&env).rows(), again(&env, || {}).is_none()), (3, true));
    });
}

#[test]
fn a_list_is_made_again_of_parts_with_every_row_once() {
    Simulation::new(1).run(|env| async move {
        let all = ["one", "two", "three"].map(|name| {
            let foreign = archive(&env, &format!("/elsewhere/{name}.warc"), &[name, "again"]);
            take(&env, std::slice::from_ref(&foreign));
            foreign
        });
        // Who replaced a part was killed before the old one was removed.
        let old = env.files.read(&index("part-000001.parquet")).unwrap();
        damage(&env, "part-000001.parquet");
        again(&env, || {}).unwrap();
        env.files.write_atomic(&index("part-000001.parquet"), &old).unwrap();
        let whole = list(&env);
        let text = env.files.read(&index("INDEX")).unwrap();
        for at in (0..text.len()).step_by(7) {
            let mut bytes = text.clone();
            bytes[at] ^= 1;
            env.files.write_atomic(&index("INDEX"), &bytes).unwrap();
            env.files.write_atomic(&index("part-000001.parquet"), &old).unwrap();
            let recovered = recover(&env.files, Path::new(ROOT)).unwrap().unwrap();
            assert_eq!((recovered.parts, recovered.rows), (3, 6), "{at}: {recovered:?}");
            assert_eq!(recovered.unreadable.len() + recovered.lost, 0, "{at}: {recovered:?}");
            let list = list(&env);
            assert_eq!((list.rows(), list.imported.len()), (6, 3), "{at}");
            assert!(list.next >= whole.next, "{at}");
            assert_eq!(check_index(&env.files, Path::new(ROOT)).unwrap().problems, [""; 0], "{at}");
            assert_eq!(take(&env, &all).known, 3, "{at}");
        }
        // A part that is gone as well comes from its archive.
        let mut bytes = text.clone();
        bytes[20] ^= 1;
        env.files.write_atomic(&index("INDEX"), &bytes).unwrap();
        env.files.remove_file(&index("part-000002.parquet")).unwrap();
        assert_eq!(recover(&env.files, Path::new(ROOT)).unwrap().unwrap().lost, 1);
        let (lost, imported) = again(&env, || {}).unwrap();
        assert_eq!((lost.as_slice(), imported.instances, list(&env).rows()), (&all[1..2], 2, 6));
    });
}

/// As earlier versions wrote it.
#[test]
fn of_an_archive_that_nobody_noted_anything_of_no_row_is_taken_twice() {
    Simulation::new(1).run(|env| async move {
        let names = ["a", "b", "c"];
        let one = [archive(&env, "/elsewhere/one.warc", &names[..2])];
        take(&env, &one);
        let forget = || {
            let text = String::from_utf8(env.files.read(&index("INDEX")).unwrap()).unwrap();
            let mut json: serde_json::Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
            json.as_object_mut().unwrap().remove("extents").unwrap();
            let json = serde_json::to_string_pretty(&json).unwrap();
            let text = format!("MATTOCK-INDEX 4 {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
            env.files.write_atomic(&index("INDEX"), text.as_bytes()).unwrap();
        };
        forget();
        let same = take(&env, &one);
        assert_eq!((same.known, same.instances, same.records, list(&env).rows()), (1, 0, 2, 2));
        assert_eq!((take(&env, &one).records, list(&env).extents.len()), (0, 1), "it is noted now");
        forget();
        archive(&env, "/elsewhere/one.warc", &names);
        assert_eq!((take(&env, &one).instances, list(&env).rows()), (1, 3));
        forget();
        archive(&env, "/elsewhere/one.warc", &["longer", "b", "c"]);
        let (options, now) = (ImportOptions::named("foreign"), || env.clock.unix());
        let refused = import(&env.files, Path::new(ROOT), &one, &options, &now, |_, _| {}).unwrap_err();
        assert!(refused.to_string().contains("is another file"), "{refused}");
        assert_eq!((list(&env).rows(), list(&env).imported.len()), (3, 1));
    });
}
