//! The OpenAPI description, made from the table of routes and the schemas of what comes back.

use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::input::{Param, Place};
use crate::routes::{ROUTES, Route};

pub(crate) fn answer() -> Answer {
    Answer::json(&document())
}

fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = if route.change { "post" } else { "get" };
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[operation] = describe(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mattock",
            "description": "A crawl seen and steered. Changes are POSTs with the header `X-Mattock: 1`, or with the token. Without the token nothing is shown, unless the console was started with `--console-token none`.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

fn describe(route: &Route) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    for param in route.params.iter().filter(|param| param.place != Place::Body) {
        let place = if param.place == Place::Path { "path" } else { "query" };
        parameters.push(json!({
            "name": param.name, "in": place, "required": param.required, "description": param.about, "schema": param.schema(),
        }));
    }
    if route.change {
        parameters.push(json!({
            "name": "X-Mattock", "in": "header", "required": true, "schema": { "type": "string", "const": "1" },
            "description": "Says that the request comes from no other site",
        }));
    }
    let content = match route.schema {
        "" => json!({ "schema": { "type": "string" } }),
        name => json!({ "schema": reference(name) }),
    };
    let mut good = Map::new();
    good.insert(route.kind.split(';').next().unwrap_or_default().to_owned(), content.clone());
    if route.path == "/view" {
        good.insert("text/html".to_owned(), content);
    }
    let problem = json!({ "description": "Not done, and why", "content": { "application/json": { "schema": reference("Problem") } } });
    let mut responses = Map::new();
    responses.insert("200".into(), json!({ "description": route.about, "content": good }));
    for status in problems(route) {
        responses.insert((*status).into(), problem.clone());
    }
    let mut described = json!({
        "operationId": route.name, "summary": route.about, "parameters": parameters, "responses": responses,
    });
    if route.change {
        let fields: Vec<&Param> = route.params.iter().filter(|param| param.place == Place::Body).collect();
        described["requestBody"] = body(&fields);
    }
    described
}

fn problems(route: &Route) -> &'static [&'static str] {
    match route.change {
        true => &["400", "401", "403", "404", "409", "413", "415", "421", "429"],
        false => &["400", "401", "403", "404", "409", "421", "429"],
    }
}

fn body(fields: &[&Param]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = field.schema();
        schema["description"] = json!(field.about);
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({
        "required": !required.is_empty(),
        "content": { "application/json": { "schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        } } },
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// An object that has these, and may have more.
fn object(fields: &[(&str, &str)]) -> Value {
    let mut properties = Map::new();
    for (name, kind) in fields {
        let kinds: Vec<&str> = kind.split(' ').collect();
        properties.insert((*name).to_owned(), json!({ "type": kinds }));
    }
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list_of(name: &str, item: Value, more: &[(&str, &str)]) -> Value {
    let mut schema = object(&[&[(name, "array")], more].concat());
    schema["properties"][name] = json!({ "type": "array", "items": item });
    schema
}

fn schemas() -> Value {
    let field = object(&[("name", "string"), ("value", "string")]);
    let mut page = object(&[
        ("url", "string"),
        ("status_line", "string"),
        ("body_bytes", "integer"),
        ("shown", "string"),
        ("instance", "object"),
    ]);
    for name in ["headers", "archive"] {
        page["properties"][name] = json!({ "type": "array", "items": field });
        page["required"].as_array_mut().expect("made above").push(json!(name));
    }
    json!({
        "Problem": object(&[("error", "string"), ("detail", "string")]),
        "Anything": { "type": "object" },
        "Done": object(&[("done", "string")]),
        "Ticket": object(&[("ticket", "string")]),
        "Health": object(&[("status", "string"), ("running", "boolean")]),
        "Snapshot": object(&[("name", "string"), ("directory", "string"), ("running", "boolean"), ("version", "string"), ("phase", "string")]),
        "History": list_of("samples", object(&[
            ("unix", "number"), ("pages_per_s", "number"), ("bytes_per_s", "number"), ("errors_per_s", "number"),
            ("queued", "integer"), ("in_flight", "integer"),
        ]), &[("every_s", "integer")]),
        "Stalls": object(&[("limit", "string"), ("sentence", "string"), ("advice", "array"), ("running", "boolean"), ("waiting", "object")]),
        "Events": list_of("events", object(&[
            ("seq", "integer"), ("unix_micros", "integer"), ("level", "string"), ("kind", "string"), ("text", "string"), ("fields", "object"),
        ]), &[("last", "integer")]),
        "List": list_of("items", object(&[
            ("name", "string"), ("pages", "integer"), ("errors", "integer"), ("other", "integer"), ("bytes", "integer"),
            ("last_unix", "number"), ("queued", "integer null"), ("next_s", "number null"), ("budget", "integer null"),
            ("in_degree", "integer null"),
        ]), &[("total", "integer"), ("checkpoint", "integer"), ("uncounted", "integer")]),
        "Portrait": object(&[
            ("name", "string"), ("kind", "string"), ("domain", "string"), ("pages", "integer"), ("errors", "integer"),
            ("outcomes", "object"), ("urls", "array"), ("over_time", "array"), ("addresses", "array"), ("hosts", "object"),
        ]),
        "Url": object(&[("why", "object"), ("sentence", "string"), ("host", "string"), ("domain", "string")]),
        "Page": page,
        "Outcomes": list_of("items", object(&[("name", "string"), ("about", "string"), ("count", "integer"), ("examples", "array")]), &[]),
        "Blocks": object(&[("rules", "array")]),
        "Fields": list_of("fields", object(&[("name", "string"), ("about", "string"), ("value", "string")]), &[]),
        "Speed": object(&[("in_force", "object null"), ("schedule", "array")]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reference_leads_somewhere_and_names_are_unique() {
        let document = document();
        let text = document.to_string();
        for part in text.split("#/components/schemas/").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric()).collect();
            assert!(document["components"]["schemas"][&name].is_object(), "{name}");
        }
        let names: BTreeSet<&str> = ROUTES.iter().map(|route| route.name).collect();
        assert_eq!(names.len(), ROUTES.len());
    }

    #[test]
    fn every_open_place_of_a_path_is_declared() {
        for route in ROUTES {
            let open: Vec<&str> =
                route.path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}')).collect();
            let declared: Vec<&str> = route
                .params
                .iter()
                .filter(|param| param.place == Place::Path)
                .map(|param| param.name)
                .collect();
            assert_eq!(open, declared, "{}", route.path);
            let is_body = |param: &Param| param.place == Place::Body;
            assert!(route.change || !route.params.iter().any(is_body), "{}", route.path);
        }
    }
}
