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
    /** Blobs of so many bytes are kept; values take several times as much. */
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

    /** @return Payload of one item, the whole file */
    public function whole($path, $sha256)
    {
        return $this->load($path, $sha256, array(is_file($path) ? filesize($path) : 0));
    }

    private function makeRoom($bytes)
    {
        while ($this->kept && $this->bytes + $bytes > self::KEEP_BYTES) {
            $this->bytes -= array_shift($this->kept)->bytes();
        }
    }

    private static function read($path, $sha256)
    {
        if (!is_file($path) || !is_readable($path)) {
            throw new Fault('payload', "$path is not a readable file", 'prepare the payloads again');
        }
        $blob = file_get_contents($path);
        $found = Digest::of(array($blob));
        if ($found !== strtolower($sha256)) {
            $message = "$path has the digest $found, planned was $sha256";
            throw new Fault('payload', $message, 'the file changed since it was planned: plan again');
        }
        return $blob;
    }
}
