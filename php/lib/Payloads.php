<?php
namespace Weighbridge;

/**
 * Reads payloads, and keeps the last one: the cells of a plan come payload by payload often enough, and a
 * second copy of a large one would be in the way of what is measured.
 */
final class Payloads
{
    private $key;
    private $payload;

    /**
     * @param string $path   absolute path of the blob
     * @param string $sha256 its digest; other content is refused
     * @param array  $items  lengths of the items
     * @return Payload
     */
    public function load($path, $sha256, array $items)
    {
        $key = array($path, $sha256, $items);
        if ($this->key !== $key) {
            $this->key = null;
            $this->payload = null;
            $this->payload = new Payload(self::read($path, $sha256), $items, $path);
            $this->key = $key;
        }
        return $this->payload;
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
