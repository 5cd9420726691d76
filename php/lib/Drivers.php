<?php
namespace Weighbridge;

/**
 * The drivers of all stores, `STORE/drivers/NAME.php` in one folder. The classes that they work with are found there too.
 *
 * A file that cannot be loaded stays in the list as a missing driver with the reason.
 */
final class Drivers
{
    private $drivers = array();
    private $broken = array();

    /** @param string $folder the folder that has a folder for each store */
    public function __construct($folder)
    {
        Classes::ofStores($folder);
        foreach (glob("$folder/*", GLOB_ONLYDIR) ?: array() as $path) {
            $store = basename($path);
            foreach (Loader::files("$path/drivers") as $name => $file) {
                $this->add($store, $name, $file);
            }
        }
    }

    /** @return Driver */
    public function find($store, $name)
    {
        if (isset($this->broken[$store][$name])) {
            throw new Fault('missing', $this->broken[$store][$name], self::remedy($store, $name));
        }
        if (!isset($this->drivers[$store]) && !isset($this->broken[$store])) {
            $known = implode(', ', array_keys($this->drivers + $this->broken)) ?: 'none';
            throw new Fault('parameter', "no driver for the store `$store` here; known stores: $known");
        }
        if (!isset($this->drivers[$store][$name])) {
            $known = isset($this->drivers[$store]) ? implode(', ', array_keys($this->drivers[$store])) : 'none';
            throw new Fault('parameter', "the store `$store` has no driver `$name`; known: $known");
        }
        return $this->drivers[$store][$name];
    }

    /** @return array every driver's description, sorted by store and name */
    public function describe()
    {
        $all = array();
        foreach ($this->drivers as $store => $drivers) {
            foreach ($drivers as $name => $driver) {
                $all["$store/$name"] = $driver->describe();
            }
        }
        foreach ($this->broken as $store => $reasons) {
            foreach ($reasons as $name => $reason) {
                $all["$store/$name"] = array(
                    'store' => $store, 'name' => $name, 'about' => 'cannot be loaded', 'library' => null,
                    'missing' => $reason, 'remedy' => self::remedy($store, $name),
                    'schemes' => array(), 'native' => array(), 'extension' => false, 'shared' => true, 'marshals' => false,
                );
            }
        }
        ksort($all);
        return array_values($all);
    }

    private function add($store, $name, $file)
    {
        list($driver, $reason) = Loader::load($file, function (array $spec) use ($store, $name) {
            return new Driver($store, $name, $spec);
        });
        if ($driver !== null) {
            $this->drivers[$store][$name] = $driver;
        } else {
            $this->broken[$store][$name] = $reason;
        }
    }

    private static function remedy($store, $name)
    {
        return "mend stores/$store/drivers/$name.php";
    }
}
