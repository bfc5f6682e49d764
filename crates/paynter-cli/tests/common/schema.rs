//! Validates JSON against the committed schemas, with the part of the schema
//! language that they use; an unknown keyword fails, so that none is ignored.

use serde_json::Value;

/// Fails unless a document fits the schema of this name.
pub fn assert_fits(name: &str, document: &Value) {
    let path = format!("{}/../../docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let root: Value = serde_json::from_str(&text).unwrap();
    if let Err(message) = fits(&root, &root, document, "$") {
        panic!("not a `{name}` document: {message}\n{document:#}");
    }
}

fn fits(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(true) { Ok(()) } else { Err(format!("{at}: nothing is allowed")) };
    };
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "format" | "required" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().trim_start_matches('#');
                fits(root, root.pointer(pointer).unwrap(), value, at)?;
            }
            "type" => {
                let names: Vec<&str> = match rule {
                    Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                    name => name.as_str().into_iter().collect(),
                };
                if !names.iter().any(|name| is(value, name)) {
                    return Err(format!("{at}: {value} is no {}", names.join(" or ")));
                }
            }
            "const" if value != rule => return Err(format!("{at}: {value} is not {rule}")),
            "const" => {}
            "enum" if !rule.as_array().unwrap().contains(value) => {
                return Err(format!("{at}: {value} is none of {rule}"));
            }
            "enum" => {}
            "minimum" if value.is_number() && value.as_f64() < rule.as_f64() => {
                return Err(format!("{at}: {value} is below {rule}"));
            }
            "minimum" => {}
            "anyOf" | "oneOf" => {
                let hits =
                    rule.as_array().unwrap().iter().filter(|s| fits(root, s, value, at).is_ok()).count();
                if hits == 0 || (keyword == "oneOf" && hits > 1) {
                    return Err(format!("{at}: {value} fits {hits} of the alternatives"));
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(root, rule, item, &format!("{at}[{i}]"))?;
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (i, (item, rule)) in items.zip(rule.as_array().unwrap()).enumerate() {
                    fits(root, rule, item, &format!("{at}[{i}]"))?;
                }
            }
            "minItems" | "maxItems" => {
                let (count, limit) = (value.as_array().map_or(0, Vec::len) as u64, rule.as_u64().unwrap());
                if (keyword == "minItems" && count < limit) || (keyword == "maxItems" && count > limit) {
                    return Err(format!("{at}: {count} items against {keyword} {limit}"));
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    fits(root, rule, value, &format!("{at}.{name}"))?;
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        fits(root, rule, value, &format!("{at}.{name}"))?;
                    }
                }
                // A key that the schema does not name is one that nobody documented.
                for name in value.as_object().into_iter().flat_map(|object| object.keys()) {
                    if rule.get(name).is_none() {
                        return Err(format!("{at}.{name} is not in the schema"));
                    }
                }
            }
            other => return Err(format!("{at}: the keyword `{other}` is not known to this test")),
        }
    }
    for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return Err(format!("{at}: {name} is missing"));
        }
    }
    Ok(())
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    }
}
