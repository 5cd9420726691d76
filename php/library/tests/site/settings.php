<?php

return ['value' => ['min_bytes' => 2048]];
