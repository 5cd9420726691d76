<?php
namespace Weighbridge\Files;

use Weighbridge\Address;
use Weighbridge\Fault;

/** One file per key in a private folder. A file is replaced by a rename, so that a reader always finds a complete file. */
final class Store
{
    private $folder;
    private $temporary;

    public function __construct(array $address)
    {
        Address::check($address, array('folder'), array());
        $this->folder = $address['folder'];
        if (!is_dir($this->folder) || !is_writable($this->folder)) {
            throw new Fault('response', "{$this->folder} is not a writable folder");
        }
        umask(0077);
        // No key starts with a dot, because each starts with the run's prefix.
        $this->temporary = "{$this->folder}/.new-" . getmypid();
    }

    public function put($key, $value)
    {
        $value = (string) $value;
        if (file_put_contents($this->temporary, $value) !== strlen($value)) {
            throw new Fault('response', "{$this->temporary} could not be written completely: is the disk full?");
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

    /** @return bool whether the key existed */
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
