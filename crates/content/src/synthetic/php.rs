//! Synthetic PHP values in the form of `serialize()`, written here so that no PHP is needed.

use super::text::Random;

/// Repeats entries (a serialized key and value) of an array while they fit; there is at least one.
fn fill(limit: usize, mut entry: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut body = String::new();
    let mut count = 0;
    loop {
        let next = entry(count);
        let frame = format!("a:{}:{{}}", count + 1).len();
        if count > 0 && body.len() + next.len() + frame > limit {
            break;
        }
        body.push_str(&next);
        count += 1;
    }
    format!("a:{count}:{{{body}}}").into_bytes()
}

fn text(value: &str) -> String {
    format!("s:{}:\"{value}\";", value.len())
}

fn int(value: u64) -> String {
    format!("i:{value};")
}

fn flag(value: bool) -> String {
    format!("b:{};", u8::from(value))
}

/// An array with text keys.
fn map(entries: &[(&str, String)]) -> String {
    let body: String = entries.iter().map(|(key, value)| text(key) + value).collect();
    format!("a:{}:{{{body}}}", entries.len())
}

/// An array with the keys 0, 1, 2 …
fn list(values: &[String]) -> String {
    let body: String = values.iter().enumerate().map(|(at, value)| int(at as u64) + value).collect();
    format!("a:{}:{{{body}}}", values.len())
}

/// A `stdClass` object.
fn object(properties: &[(&str, String)]) -> String {
    let body: String = properties.iter().map(|(name, value)| text(name) + value).collect();
    format!("O:8:\"stdClass\":{}:{{{body}}}", properties.len())
}

pub(super) fn rows(random: &mut Random, limit: usize) -> Vec<u8> {
    fill(limit, |count| {
        let price = random.below(100_000);
        let (day, second) = (random.below(28) + 1, random.below(86_400));
        let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let row = [
            ("id", int(count as u64 + 1)),
            ("sku", text(&format!("{}-{}", random.word(), random.below(10_000)))),
            ("title", text(&random.words(2, 6))),
            ("state", text(random.pick(&["active", "archived", "draft"]))),
            ("price", text(&format!("{}.{:02}", price / 100, price % 100))),
            ("stock", int(random.below(400))),
            ("supplier_id", if random.below(4) == 0 { "N;".into() } else { int(random.below(900)) }),
            ("description", text(&random.words(8, 20))),
            ("created_at", text(&format!("2020-{:02}-{day:02} {clock}", random.below(12) + 1))),
        ];
        int(count as u64) + &map(&row)
    })
}

pub(super) fn tree(random: &mut Random, limit: usize) -> Vec<u8> {
    fill(limit, |count| {
        let parts: Vec<(String, String)> = (0..1 + random.below(4))
            .map(|part| {
                let options = [
                    ("enabled", flag(random.below(3) > 0)),
                    ("priority", int(random.below(100))),
                    ("handler", text(&format!("App\\{}\\{}", random.word(), random.word()))),
                    ("about", text(&random.words(2, 8))),
                    ("tags", list(&[text(&random.word()), text(&random.word())])),
                    ("limits", map(&[("least", int(random.below(10))), ("most", int(random.below(10_000)))])),
                ];
                (format!("{}_{part}", random.word()), map(&options))
            })
            .collect();
        let parts: Vec<(&str, String)> =
            parts.iter().map(|(name, part)| (name.as_str(), part.clone())).collect();
        text(&format!("{}.{count}", random.word())) + &map(&parts)
    })
}

pub(super) fn i18n(random: &mut Random, limit: usize) -> Vec<u8> {
    fill(limit, |count| {
        let id = format!("{}.{}.{count}", random.word(), random.word());
        text(&id) + &text(&random.words(1, 9))
    })
}

pub(super) fn meta(random: &mut Random, limit: usize) -> Vec<u8> {
    fill(limit, |count| {
        let methods: Vec<String> = (0..random.below(6))
            .map(|_| {
                let result = object(&[
                    ("name", text(random.pick(&["string", "int", "array", "bool", "mixed"]))),
                    ("nullable", flag(random.below(3) == 0)),
                ]);
                object(&[
                    ("name", text(&format!("{}{}", random.pick(&["get", "set", "is"]), random.word()))),
                    ("modifiers", list(&[text(random.pick(&["public", "protected", "private"]))])),
                    ("doc", text(&format!("/** {} */", random.sentence()))),
                    ("result", result),
                ])
            })
            .collect();
        let name = format!("App\\{}\\{}{count}", random.word(), random.word());
        let class = [
            ("kind", text(random.pick(&["class", "class", "interface", "trait"]))),
            ("name", text(&name)),
            ("line", int(random.below(200))),
            ("doc", text(&format!("/** {} */", random.sentence()))),
            ("methods", list(&methods)),
        ];
        text(&name) + &object(&class)
    })
}
