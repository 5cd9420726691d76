<?php
namespace Weighbridge\Files;

use Weighbridge\Address;
use Weighbridge\Fault;

/** One file for each key in a private folder. A file is replaced by a rename, so that a reader finds it whole. */
final class Store
{
    private $folder;
    private $temporary;

    public function __construct(array $address)
    {
        Address::check($address, array('folder'), array());
        $this->folder = $address['folder'];
        if (!is_dir($this->folder) || !is_writable($this->folder)) {
            throw new Fault('response', "{$this->folder} is not a folder that can be written to");
        }
        umask(0077);
        // No key begins with a dot, for each begins with the run's prefix.
        $this->temporary = "{$this->folder}/.new-" . getmypid();
    }

    public function put($key, $value)
    {
        $value = (string) $value;
        if (file_put_contents($this->temporary, $value) !== strlen($value)) {
            throw new Fault('response', "{$this->temporary} could not be written whole: is the disk full?");
        }
        rename($this->temporary, $this->path($key));
    }

    /** @return string|null */
    public function get($key)
    {
        $path = $this->path($key);
        try {
            return file_get_contents($path);
        } catch (\ErrorException $error) {
            clearstatcache();
            if (!file_exists($path)) {
                return null;
            }
            throw $error;
        }
    }

    /** @return bool whether it was there */
    public function remove($key)
    {
        $path = $this->path($key);
        return is_file($path) && unlink($path);
    }

    /** @return null: there is no server */
    public function server()
    {
        return null;
    }

    public function close()
    {
        if (is_file($this->temporary)) {
            unlink($this->temporary);
        }
    }

    private function path($key)
    {
        return "{$this->folder}/" . rawurlencode($key);
    }
}
