<?php
/** Answers the ready path; everything else is a file or a script of the docroot. */
if (strtok($_SERVER['REQUEST_URI'], '?') === '{{ ready }}') {
    echo '{{ token }}';
    return true;
}
return false;
