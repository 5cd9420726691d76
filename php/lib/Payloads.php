<?php
namespace Weighbridge;

/**
 * Reads payloads, and keeps the latest ones: a round visits them in any order, and to read, digest and
 * unserialize a large one again for each visit would take longer than many visits do.
 *
 * What is kept was verified when it was read; a file that changes later changes nothing here.
 */
final class Payloads
{
    /** Blobs of this many bytes are kept; values take several times as much. */
    const KEEP_BYTES = 33554432;

    private $kept = array();
    private $bytes = 0;

    /**
     * @param string $path   absolute path of the blob
     * @param string $sha256 its digest; other content is refused
     * @param array  $items  lengths of the items
     * @return Payload
     */
    public function load($path, $sha256, array $items)
    {
        $key = "$path\n$sha256\n" . implode(',', $items);
        if (isset($this->kept[$key])) {
            $payload = $this->kept[$key];
            unset($this->kept[$key]);
        } else {
            $this->makeRoom(array_sum($items));
            $payload = new Payload(self::read($path, $sha256), $items, $path);
            $this->bytes += $payload->bytes();
        }
        // The latest stands at the end.
        $this->kept[$key] = $payload;
        return $payload;
    }

    /**
     * @param array    $items lengths of the items; none: the whole file is one
     * @param callable $of    gets an item
     * @return array what `$of` makes of each item: there is never more than one in memory beside that
     */
    public static function each($path, $sha256, array $items, $of)
    {
        self::need($path);
        self::compare($path, hash_file('sha256', $path), $sha256);
        $items = $items ?: array(filesize($path));
        if (array_sum($items) !== filesize($path)) {
            throw new Fault('parameter', 'the items add up to ' . array_sum($items) . " bytes, but $path has " . filesize($path));
        }
        $made = array();
        $file = fopen($path, 'r');
        foreach ($items as $length) {
            $made[] = call_user_func($of, $length > 0 ? stream_get_contents($file, $length) : '');
        }
        fclose($file);
        return $made;
    }

    private function makeRoom($bytes)
    {
        while ($this->kept && $this->bytes + $bytes > self::KEEP_BYTES) {
            $this->bytes -= array_shift($this->kept)->bytes();
        }
    }

    private static function read($path, $sha256)
    {
        self::need($path);
        $blob = file_get_contents($path);
        self::compare($path, Digest::of(array($blob)), $sha256);
        return $blob;
    }

    private static function need($path)
    {
        if (!is_file($path) || !is_readable($path)) {
            throw new Fault('payload', "$path is not a readable file", 'prepare the payloads again');
        }
    }

    private static function compare($path, $found, $sha256)
    {
        if ($found !== strtolower($sha256)) {
            $message = "$path has the digest $found, planned was $sha256";
            throw new Fault('payload', $message, 'the file changed since it was planned: plan again');
        }
    }
}
