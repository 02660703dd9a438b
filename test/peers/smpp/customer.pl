# A customer with Net::SMPP: binds, submits a text, answers the receipt and prints both, then asks for
# the state of the message and a cancel that comes too late.
# perl customer.pl PORT SYSTEM_ID PASSWORD TO TEXT
use strict;
use warnings;
use Net::SMPP;

my ($port, $system_id, $password, $to, $text) = @ARGV;
my ($smpp, $bound) = Net::SMPP->new_transceiver('127.0.0.1',
  port => $port, system_id => $system_id, password => $password)
  or die "no connection: $!";
die "the bind is refused: $bound->{status}" if $bound->{status};
my $answer = $smpp->submit_sm(
  source_addr_ton => 5, source_addr_npi => 0, source_addr => 'ACME',
  dest_addr_ton => 1, dest_addr_npi => 1, destination_addr => $to,
  registered_delivery => 1, short_message => $text,
) or die "no answer: $!";
die "the submit is refused: $answer->{status}" if $answer->{status};
print "$answer->{message_id}\n";
my $receipt = $smpp->read_pdu() or die "no receipt: $!";
die "no deliver_sm but $receipt->{cmd}" if $receipt->{cmd} != 0x00000005;
print "$receipt->{short_message}\n";
$smpp->deliver_sm_resp(seq => $receipt->{seq}, message_id => '');
my %of = (message_id => $answer->{message_id}, source_addr_ton => 5, source_addr_npi => 0,
  source_addr => 'ACME');
my $state = $smpp->query_sm(%of) or die "no answer to query_sm: $!";
print "state $state->{status} $state->{message_state}\n";
my $cancel = $smpp->cancel_sm(%of, dest_addr_ton => 1, dest_addr_npi => 1,
  destination_addr => $to) or die "no answer to cancel_sm: $!";
print "cancel $cancel->{status}\n";
$smpp->unbind();
