<?php
namespace Weighbridge;

/** The ways found in the folder ways/, by the names of their files. A request loads only the one that it names. */
final class Ways
{
    private $home;

    /** @param string $home the folder that has ways/ and codecs/ */
    public function __construct($home)
    {
        $this->home = $home;
    }

    /** @return Way */
    public function way($name)
    {
        if (!preg_match('/^[a-z0-9][a-z0-9._-]{0,60}$/D', $name) || !is_file("{$this->home}/ways/$name.php")) {
            $known = implode(', ', $this->names());
            throw new Fault('parameter', 'there is no way `' . substr($name, 0, 60) . "`; there are: $known");
        }
        $spec = require "{$this->home}/ways/$name.php";
        if (!is_array($spec)) {
            throw new Fault('missing', "ways/$name.php must return an array");
        }
        return new Way($this->home, $name, $spec);
    }

    /** @return array the description of every way, sorted by name; a file that cannot be used says why */
    public function describe()
    {
        $all = array();
        foreach ($this->names() as $name) {
            $fault = null;
            try {
                $all[] = $this->way($name)->describe();
            } catch (\Exception $error) {
                $fault = $error;
            } catch (\Throwable $error) {
                $fault = $error;
            }
            if ($fault !== null) {
                // A broken file says nothing of its kind; `plain` only keeps the entry well formed.
                $entry = array('name' => $name, 'kind' => 'plain', 'subjects' => array(), 'remedy' => "mend ways/$name.php");
                $all[] = $entry + array('missing' => Text::line("$name.php cannot be used: " . $fault->getMessage()));
            }
        }
        return $all;
    }

    private function names()
    {
        $names = array();
        foreach (glob("{$this->home}/ways/*.php") ?: array() as $file) {
            $names[] = basename($file, '.php');
        }
        sort($names);
        return $names;
    }
}
