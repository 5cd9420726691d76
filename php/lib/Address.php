<?php
namespace Weighbridge;

/** Where a store is, as a request's `address` has it: `unix`, or `host` and `port`, or `folder`. */
final class Address
{
    /** @return string for messages */
    public static function name(array $address)
    {
        if (isset($address['unix'])) {
            return $address['unix'];
        }
        return isset($address['folder']) ? $address['folder'] : self::host($address) . ":{$address['port']}";
    }

    /** @return string for stream_socket_client() */
    public static function target(array $address)
    {
        return isset($address['unix']) ? "unix://{$address['unix']}" : 'tcp://' . self::host($address) . ":{$address['port']}";
    }

    /**
     * @param array $needed names of the fields of which one must be there: unix, host, folder
     * @param array $taken  names of further fields that are understood: user, password, database
     * @throws Fault on an address that a driver cannot go to
     */
    public static function check(array $address, array $needed, array $taken)
    {
        if (!array_intersect($needed, array_keys(array_filter($address, 'is_string')))) {
            throw new Fault('parameter', 'the address needs one of ' . implode(', ', $needed));
        }
        if (isset($address['host']) && !(isset($address['port']) && is_int($address['port']))) {
            throw new Fault('parameter', 'an address with a host needs a port');
        }
        foreach (array('user', 'password', 'database', 'namespace') as $field) {
            if (isset($address[$field]) && !in_array($field, $taken, true)) {
                throw new Fault('parameter', "this driver takes no $field in the address");
            }
        }
    }

    private static function host(array $address)
    {
        // A numeric address of version 6 stands in brackets before a port.
        $bare = strpos($address['host'], ':') !== false && $address['host'][0] !== '[';
        return $bare ? "[{$address['host']}]" : $address['host'];
    }
}
