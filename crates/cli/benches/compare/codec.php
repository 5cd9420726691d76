<?php
return array('format' => 'mine', 'bindings' => array('library' => array(
    'missing' => function () { return null; },
    'library' => function () { return 'mine 1.0'; },
    'coder' => function () {
        $times = (int) ini_get('user_agent');
        $work = function ($input) use ($times) {
            $sum = 0;
            for ($i = 0; $i < $times; $i++) {
                $sum ^= crc32($input);
            }
            return $input;
        };
        return new Weighbridge\Coder($work, function ($encoded, $length) use ($work) { return $work($encoded); });
    },
)));
