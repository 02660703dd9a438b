#!/usr/bin/perl
# An SMSC of Net::SMPP for one transceiver: hexadecimal ids in answers, decimal ones in receipts. It
# throttles the first submit, answers query_sm and cancel_sm, and prints what it takes. Its port is the first line.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0) or die "no socket: $!";
print 'port ', $listener->sockport, "\n";
my $peer = $listener->accept or die "no peer: $!";
my ($id, $throttled, $receipt) = (0xabcd00, 1, 1000);
my %known;

while (my $pdu = $peer->read_pdu) {
  my $seq = $pdu->{seq};
  if ($pdu->{cmd} == Net::SMPP::CMD_bind_transceiver) {
    my $ok = $pdu->{system_id} eq 'tester' && $pdu->{password} eq 'secret';
    $peer->bind_transceiver_resp(seq => $seq, status => $ok ? 0 : 0x0e, system_id => 'perl');
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_submit_sm) {
    if ($throttled) {
      $throttled = 0;
      $peer->submit_sm_resp(seq => $seq, status => 0x58, message_id => '');
      next;
    }
    $id++;
    $known{sprintf '%x', $id} = 1;
    print join(' ', 'submit', $pdu->{destination_addr}, $pdu->{source_addr}, $pdu->{data_coding},
      $pdu->{esm_class}, $pdu->{validity_period} || '-', unpack('H*', $pdu->{short_message})), "\n";
    $peer->submit_sm_resp(seq => $seq, status => 0, message_id => sprintf('%x', $id));
    # Messages to short numbers get no receipt.
    next if length($pdu->{destination_addr}) < 12;
    $peer->deliver_sm(
      seq => ++$receipt, async => 1, esm_class => 4,
      source_addr_ton => 1, source_addr_npi => 1, source_addr => $pdu->{destination_addr},
      destination_addr => $pdu->{source_addr},
      short_message => "id:$id sub:001 dlvrd:001 submit date:2611240900 done date:2611240901 stat:DELIVRD err:000 text:x",
    );
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_query_sm) {
    my $of = $pdu->{message_id};
    $peer->query_sm_resp(seq => $seq, status => $known{$of} ? 0 : 0x67, message_id => $of,
      final_date => '', message_state => 2, error_code => 0);
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_cancel_sm) {
    my $of = $pdu->{message_id};
    print join(' ', 'cancel', $of, $pdu->{source_addr}, $pdu->{destination_addr}), "\n";
    $peer->cancel_sm_resp(seq => $seq, status => delete $known{$of} ? 0 : 0x11);
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_deliver_sm_resp) {
    print "receipt $pdu->{status}\n";
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_enquire_link) {
    $peer->enquire_link_resp(seq => $seq);
    print "enquire\n";
  } elsif ($pdu->{cmd} == Net::SMPP::CMD_unbind) {
    $peer->unbind_resp(seq => $seq);
    print "unbind\n";
    last;
  }
}
