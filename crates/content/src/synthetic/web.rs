//! Synthetic content of the web: pages, scripts, style sheets, records, drawings, prose.

use super::text::Random;

/// Repeats parts between a head and a tail while they fit; there is at least one.
fn fill(head: &str, tail: &str, limit: usize, mut part: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut out = head.to_owned();
    for count in 0.. {
        let next = part(count);
        if count > 0 && out.len() + next.len() + tail.len() > limit {
            break;
        }
        out.push_str(&next);
    }
    out.push_str(tail);
    out.into_bytes()
}

pub(super) fn html(random: &mut Random, limit: usize) -> Vec<u8> {
    let head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Synthetic</title></head>\n\
                <body class=\"page page--wide\">\n";
    fill(head, "</body>\n</html>\n", limit, |count| {
        let id = random.word();
        match random.below(8) {
            0 => format!("<h2 id=\"{id}-{count}\" class=\"title\">{}</h2>\n", random.words(2, 6)),
            1 => {
                let items: String = (0..3 + random.below(5))
                    .map(|_| {
                        let (href, text) = (random.word(), random.words(1, 4));
                        format!("  <li class=\"list__item\"><a href=\"/{id}/{href}.html\">{text}</a></li>\n")
                    })
                    .collect();
                format!("<ul class=\"list\">\n{items}</ul>\n")
            }
            2 => {
                let (name, alt) = (random.below(900), random.words(2, 5));
                format!(
                    "<figure class=\"figure\"><img src=\"/img/{id}-{name}.jpg\" width=\"640\" height=\"480\" \
                     loading=\"lazy\" alt=\"{alt}\"></figure>\n"
                )
            }
            _ => {
                let text: Vec<String> = (0..1 + random.below(4)).map(|_| random.sentence()).collect();
                format!("<p class=\"text\">{}</p>\n", text.join(" "))
            }
        }
    })
}

pub(super) fn js(random: &mut Random, limit: usize) -> Vec<u8> {
    let calls = ["push", "map", "filter", "call", "apply", "addEventListener", "querySelector", "indexOf"];
    fill("!function(){\"use strict\";", "}();\n", limit, |_| {
        let (name, member, property) = (random.word(), random.word(), random.word());
        let (a, b) = (random.pick(&["e", "t", "n", "r", "i", "o"]), random.pick(&["a", "s", "u", "l", "c"]));
        let (call, number) = (random.pick(&calls), random.below(300));
        match random.below(4) {
            0 => format!("function {name}({a},{b}){{return {a}.{member}({b},{number})||this.{property}}}"),
            1 => format!("if(null!=={a}&&{a}.{property}!=={number}){b}.{call}({a}.{member});"),
            2 => format!("var {a}={{{name}:{number},{member}:\"{property}\",{property}:!{}}};", number & 1),
            _ => format!(
                "{b}.prototype.{name}=function({a}){{this.{member}.{call}({a}),this._{property}={b}}};"
            ),
        }
    })
}

pub(super) fn css(random: &mut Random, limit: usize) -> Vec<u8> {
    let units = ["px", "rem", "%", "em", "vw"];
    fill("@charset \"utf-8\";\n", "", limit, |_| {
        let (block, element) = (random.word(), random.word());
        let mut rule = format!(".{block}__{element} {{\n");
        for _ in 0..1 + random.below(5) {
            let number = random.below(64);
            let unit = random.pick(&units);
            rule += &match random.below(5) {
                0 => format!("  margin: {number}{unit} auto;\n"),
                1 => format!("  padding: {number}{unit};\n"),
                2 => format!("  color: #{:06x};\n", random.below(1 << 24)),
                3 => format!("  font-size: {number}{unit};\n"),
                _ => format!("  {}: {number}{unit};\n", random.pick(&["width", "height", "top", "left"])),
            };
        }
        rule + "}\n"
    })
}

pub(super) fn json(random: &mut Random, limit: usize) -> Vec<u8> {
    fill("[", "]\n", limit, |count| {
        let comma = if count == 0 { "" } else { "," };
        let (id, price, stock) = (random.below(1_000_000), random.below(100_000), random.below(400));
        let (name, tag, text) = (random.words(2, 4), random.word(), random.words(6, 20));
        let state = random.pick(&["active", "archived", "draft"]);
        format!(
            "{comma}{{\"id\":{id},\"name\":\"{name}\",\"state\":\"{state}\",\"price\":{}.{:02},\"stock\":{stock},\
             \"tags\":[\"{tag}\"],\"description\":\"{text}\"}}",
            price / 100,
            price % 100,
        )
    })
}

pub(super) fn svg(random: &mut Random, limit: usize) -> Vec<u8> {
    let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\">\n";
    fill(head, "</svg>\n", limit, |_| {
        let mut path = String::from("<path d=\"M");
        for _ in 0..4 + random.below(12) {
            let (x, y) = (random.below(512), random.below(512));
            path += &format!("{x}.{} {y}{}", random.below(10), random.pick(&["l", "c", " ", "v", "h"]));
        }
        path + &format!("z\" fill=\"#{:03x}\"/>\n", random.below(1 << 12))
    })
}

pub(super) fn prose(random: &mut Random, limit: usize) -> Vec<u8> {
    fill("", "", limit, |count| {
        let end = if count % 6 == 5 { "\n\n" } else { " " };
        random.sentence() + end
    })
}
