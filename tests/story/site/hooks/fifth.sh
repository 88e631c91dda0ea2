#!/bin/sh
echo "fifth" >> /var/log/site-steps
test ! -e /etc/not-acceptable
