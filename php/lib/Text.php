<?php
namespace Weighbridge;

/** Text that has to travel in a reply: one line, valid in JSON, of bounded length. */
final class Text
{
    const LONGEST = 1000;

    /** @return string `$text` as one line that JSON can carry */
    public static function line($text)
    {
        $text = trim(preg_replace('/\s+/', ' ', $text));
        if (strlen($text) > self::LONGEST) {
            $text = substr($text, 0, self::LONGEST) . ' ...';
        }
        // A message may quote bytes of a payload or a path in another encoding, and a cut may split a character.
        return preg_match('//u', $text) === 1 ? $text : preg_replace('/[^\x20-\x7e]/', '?', $text);
    }
}
